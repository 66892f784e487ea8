import type { AdmissionSlot } from '@tessera/admission';

/** A call that was let through: it has a place in admission from the end of its request on. */
export interface OpenCall {
  /**
   * To be called when the request is there as a whole, with its first bytes. A place, which is the
   * caller's to give back; undefined: the call needs none; or a header block that ends the call
   * (literals alone).
   */
  begin(message: Buffer | undefined): AdmissionSlot | { readonly refusal: Buffer } | undefined;
}
