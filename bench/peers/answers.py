"""The standard output of a peer, for its answers alone: what libraries print goes to the standard
error from here on. To be imported before them, since some keep the output that they find.
"""

import os
import sys

ANSWERS = os.fdopen(os.dup(sys.stdout.fileno()), "w")
os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
