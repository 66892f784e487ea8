// Generated from proto/ by tools/generate.mjs. Do not edit.
/** Messages and services as protobufjs writes a schema; fields in camel case; comments. */ export const protoSchema = {
    "nested": {
        "tessera": {
            "nested": {
                "adapter": {
                    "nested": {
                        "events": {
                            "nested": {
                                "v1": {
                                    "options": {
                                        "go_package": "tessera.dev/go/adapter/events/v1;adaptereventsv1",
                                        "java_multiple_files": true,
                                        "java_package": "dev.tessera.adapter.events.v1"
                                    },
                                    "nested": {
                                        "AdapterAnnounced": {
                                            "fields": {
                                                "name": {
                                                    "type": "string",
                                                    "id": 1,
                                                    "comment": "As in PushHeader."
                                                },
                                                "baseModel": {
                                                    "type": "string",
                                                    "id": 2
                                                },
                                                "location": {
                                                    "type": "string",
                                                    "id": 3,
                                                    "comment": "A folder below `adapters.fetchPath`, as a relative path, or `s3://BUCKET/PREFIX/` with a bucket of\n`adapters.s3Buckets`. It holds the files of a push, which nobody changes\nmeanwhile."
                                                },
                                                "share": {
                                                    "type": "double",
                                                    "id": 4,
                                                    "comment": "Activate it when it is valid and has never served: share of the users in (0, 1], 0: do not."
                                                },
                                                "sha256": {
                                                    "keyType": "string",
                                                    "type": "string",
                                                    "id": 5,
                                                    "comment": "Of the files, by name, 64 hexadecimal digits; those left out are taken as they are. Objects of a store\nare read once with it and twice without."
                                                }
                                            }
                                        },
                                        "AdapterEvent": {
                                            "fields": {
                                                "timeMs": {
                                                    "type": "int64",
                                                    "id": 1,
                                                    "comment": "Milliseconds since 1970."
                                                },
                                                "action": {
                                                    "type": "string",
                                                    "id": 2,
                                                    "comment": "push, activate, rollback, pin, unpin, delete, lost, waits (for its base model), update-weights."
                                                },
                                                "actor": {
                                                    "type": "string",
                                                    "id": 3,
                                                    "comment": "Name of the token or certificate; `loopback` where none is asked for; `canary` where the comparison\ndid it, `announcement` for a message of the topic."
                                                },
                                                "name": {
                                                    "type": "string",
                                                    "id": 4
                                                },
                                                "digest": {
                                                    "type": "string",
                                                    "id": 5,
                                                    "comment": "Empty where the action names none."
                                                },
                                                "outcome": {
                                                    "type": "string",
                                                    "id": 6,
                                                    "comment": "OK or a code of docs/operate/errors.md."
                                                },
                                                "detail": {
                                                    "type": "string",
                                                    "id": 7,
                                                    "comment": "Why, or what was said of it."
                                                }
                                            }
                                        }
                                    }
                                }
                            }
                        },
                        "v1": {
                            "options": {
                                "go_package": "tessera.dev/go/adapter/v1;adapterv1",
                                "java_multiple_files": true,
                                "java_package": "dev.tessera.adapter.v1"
                            },
                            "nested": {
                                "PushedFile": {
                                    "fields": {
                                        "name": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "bytes": {
                                            "type": "uint64",
                                            "id": 2
                                        },
                                        "sha256": {
                                            "type": "string",
                                            "id": 3,
                                            "comment": "Of the content, 64 hexadecimal digits."
                                        }
                                    },
                                    "comment": "A file of a version: `adapter_config.json` and `adapter_model.safetensors` (PEFT), `ranking.json` and\n`heads.safetensors` (docs/integrate/ranking.md), or all four."
                                },
                                "PushHeader": {
                                    "fields": {
                                        "name": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Name of the adapter: 1 to 64 of a-z, 0-9, '.', '_' and '-', a letter or digit first."
                                        },
                                        "baseModel": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "Digest of the model that it was trained for (`versions.model` of an answer)."
                                        },
                                        "files": {
                                            "rule": "repeated",
                                            "type": "PushedFile",
                                            "id": 3,
                                            "comment": "Each once."
                                        },
                                        "remark": {
                                            "type": "string",
                                            "id": 4,
                                            "comment": "Remarks of the trainer, shown with the version; 1,024 characters at most."
                                        }
                                    },
                                    "comment": "Header of a push. It alone decides the digest of the version: a version that is known is\nanswered at once, its content need not be sent again."
                                },
                                "PushChunk": {
                                    "fields": {
                                        "data": {
                                            "type": "bytes",
                                            "id": 1
                                        }
                                    },
                                    "comment": "The next bytes of a file. Files come in the order of the header, one after another."
                                },
                                "PushEnd": {
                                    "fields": {},
                                    "comment": "Without it nothing is kept: the end of a stream may be the end of its client."
                                },
                                "PushRequest": {
                                    "oneofs": {
                                        "part": {
                                            "oneof": [
                                                "header",
                                                "chunk",
                                                "end"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "header": {
                                            "type": "PushHeader",
                                            "id": 1,
                                            "comment": "First and once."
                                        },
                                        "chunk": {
                                            "type": "PushChunk",
                                            "id": 2
                                        },
                                        "end": {
                                            "type": "PushEnd",
                                            "id": 3,
                                            "comment": "Last."
                                        }
                                    }
                                },
                                "PushResponse": {
                                    "fields": {
                                        "version": {
                                            "type": "Version",
                                            "id": 1
                                        },
                                        "known": {
                                            "type": "bool",
                                            "id": 2,
                                            "comment": "It was there before this push."
                                        }
                                    }
                                },
                                "State": {
                                    "values": {
                                        "STATE_UNSPECIFIED": 0,
                                        "STATE_RECEIVED": 1,
                                        "STATE_VALIDATED": 2,
                                        "STATE_CANARY": 3,
                                        "STATE_ACTIVE": 4,
                                        "STATE_RETIRED": 5,
                                        "STATE_REJECTED": 6
                                    },
                                    "comments": {
                                        "STATE_RECEIVED": "Kept, and not looked into yet.",
                                        "STATE_VALIDATED": "The engine has loaded it and answered the golden set with it.",
                                        "STATE_CANARY": "Serves a share of the users.",
                                        "STATE_ACTIVE": "Serves all users but those of a canary.",
                                        "STATE_RETIRED": "Has served, or was overtaken.",
                                        "STATE_REJECTED": "Never serves; `reason` says why."
                                    }
                                },
                                "Version": {
                                    "fields": {
                                        "name": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "digest": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "Of names and contents of its files."
                                        },
                                        "state": {
                                            "type": "State",
                                            "id": 3
                                        },
                                        "reason": {
                                            "type": "string",
                                            "id": 4,
                                            "comment": "Why it is rejected or retired; empty where nothing went wrong."
                                        },
                                        "baseModel": {
                                            "type": "string",
                                            "id": 5
                                        },
                                        "fileBytes": {
                                            "type": "uint64",
                                            "id": 6,
                                            "comment": "Of its files."
                                        },
                                        "receivedMs": {
                                            "type": "int64",
                                            "id": 7,
                                            "comment": "Milliseconds since 1970."
                                        },
                                        "changedMs": {
                                            "type": "int64",
                                            "id": 8,
                                            "comment": "Of the newest change of its state."
                                        },
                                        "pinned": {
                                            "type": "bool",
                                            "id": 9,
                                            "comment": "Stays loaded and on disk whatever its state."
                                        },
                                        "share": {
                                            "type": "double",
                                            "id": 10,
                                            "comment": "Share of the users that a canary serves, in 0..1; 0 for others."
                                        },
                                        "loaded": {
                                            "type": "bool",
                                            "id": 11,
                                            "comment": "Requests may name it now."
                                        },
                                        "arenaBytes": {
                                            "type": "uint64",
                                            "id": 12,
                                            "comment": "Of the engine's memory, while loaded."
                                        },
                                        "predecessor": {
                                            "type": "bool",
                                            "id": 13,
                                            "comment": "Target of a rollback."
                                        },
                                        "remark": {
                                            "type": "string",
                                            "id": 14
                                        },
                                        "rankMax": {
                                            "type": "uint32",
                                            "id": 15,
                                            "comment": "Found when it was validated."
                                        },
                                        "targetCount": {
                                            "type": "uint32",
                                            "id": 16
                                        },
                                        "replacedRows": {
                                            "type": "uint32",
                                            "id": 17
                                        },
                                        "largestNorm": {
                                            "type": "double",
                                            "id": 18
                                        }
                                    },
                                    "comment": "A version of an adapter."
                                },
                                "ListRequest": {
                                    "fields": {
                                        "name": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Empty: of all names."
                                        }
                                    }
                                },
                                "ListResponse": {
                                    "fields": {
                                        "versions": {
                                            "rule": "repeated",
                                            "type": "Version",
                                            "id": 1,
                                            "comment": "By name, newest first."
                                        },
                                        "defaultName": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "Name that serves the requests that name none."
                                        },
                                        "arenaUsedBytes": {
                                            "type": "uint64",
                                            "id": 3,
                                            "comment": "Memory of the engine for adapters."
                                        },
                                        "arenaMaxBytes": {
                                            "type": "uint64",
                                            "id": 4
                                        },
                                        "diskUsedBytes": {
                                            "type": "uint64",
                                            "id": 5,
                                            "comment": "Files of all versions."
                                        },
                                        "diskMaxBytes": {
                                            "type": "uint64",
                                            "id": 6
                                        }
                                    }
                                },
                                "GetRequest": {
                                    "fields": {
                                        "name": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "digest": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "Or the first 8 digits of it or more, where they are of one version of the name alone."
                                        }
                                    }
                                },
                                "GetResponse": {
                                    "fields": {
                                        "version": {
                                            "type": "Version",
                                            "id": 1
                                        },
                                        "comparison": {
                                            "type": "Comparison",
                                            "id": 2,
                                            "comment": "Live comparison of a canary with the version it may replace; absent for others."
                                        }
                                    }
                                },
                                "Arm": {
                                    "fields": {
                                        "answers": {
                                            "type": "uint64",
                                            "id": 1
                                        },
                                        "failures": {
                                            "type": "uint64",
                                            "id": 2
                                        },
                                        "emptyAnswers": {
                                            "type": "uint64",
                                            "id": 3
                                        },
                                        "shortAnswers": {
                                            "type": "uint64",
                                            "id": 4
                                        },
                                        "latencyP50Ms": {
                                            "type": "double",
                                            "id": 5
                                        },
                                        "latencyP95Ms": {
                                            "type": "double",
                                            "id": 6
                                        },
                                        "clicks": {
                                            "type": "uint64",
                                            "id": 7,
                                            "comment": "Behaviours with an item of the user's newest answer."
                                        },
                                        "clickScore": {
                                            "type": "double",
                                            "id": 8,
                                            "comment": "Mean score of those items, as that answer had it."
                                        },
                                        "clickRate": {
                                            "type": "ClickRate",
                                            "id": 9
                                        }
                                    },
                                    "comment": "Figures of one of two versions for its users."
                                },
                                "ClickRate": {
                                    "fields": {
                                        "userAnswers": {
                                            "type": "uint64",
                                            "id": 1
                                        },
                                        "clickedAnswers": {
                                            "type": "uint64",
                                            "id": 2
                                        },
                                        "rate": {
                                            "type": "double",
                                            "id": 3,
                                            "comment": "In 0..1, and its 95 % confidence interval (Wilson)."
                                        },
                                        "low": {
                                            "type": "double",
                                            "id": 4
                                        },
                                        "high": {
                                            "type": "double",
                                            "id": 5
                                        }
                                    },
                                    "comment": "Share of the answers to known users of which an item was clicked."
                                },
                                "Comparison": {
                                    "fields": {
                                        "canary": {
                                            "type": "Arm",
                                            "id": 1
                                        },
                                        "active": {
                                            "type": "Arm",
                                            "id": 2
                                        },
                                        "shadowed": {
                                            "type": "uint64",
                                            "id": 3,
                                            "comment": "Recalls of the canary that the active version answered as well, in the background."
                                        },
                                        "overlap": {
                                            "type": "double",
                                            "id": 4,
                                            "comment": "Mean share of items that both answers have."
                                        },
                                        "clickVerdict": {
                                            "type": "string",
                                            "id": 5,
                                            "comment": "A sentence: which of them is clicked more, or that it is not known yet. It is known where the 95 % interval\nof the difference (Newcombe) leaves 0 out."
                                        }
                                    }
                                },
                                "ActivateRequest": {
                                    "oneofs": {
                                        "_share": {
                                            "oneof": [
                                                "share"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "name": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "digest": {
                                            "type": "string",
                                            "id": 2
                                        },
                                        "share": {
                                            "type": "double",
                                            "id": 3,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Share of the users, in (0, 1): a canary. Left out or 1: all of them."
                                        },
                                        "force": {
                                            "type": "bool",
                                            "id": 4,
                                            "comment": "Leave out the comparison on the golden set."
                                        },
                                        "cold": {
                                            "type": "bool",
                                            "id": 5,
                                            "comment": "Leave out the warm-up."
                                        }
                                    }
                                },
                                "ActivateResponse": {
                                    "oneofs": {
                                        "_goldenOverlap": {
                                            "oneof": [
                                                "goldenOverlap"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "version": {
                                            "type": "Version",
                                            "id": 1
                                        },
                                        "warmedUsers": {
                                            "type": "uint32",
                                            "id": 2,
                                            "comment": "Users whose keys and values were computed before the switch."
                                        },
                                        "goldenOverlap": {
                                            "type": "double",
                                            "id": 3,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Mean share of items that the golden set's answers have in common with the version that served;\nabsent where it was not compared."
                                        }
                                    }
                                },
                                "RollbackRequest": {
                                    "fields": {
                                        "name": {
                                            "type": "string",
                                            "id": 1
                                        }
                                    }
                                },
                                "RollbackResponse": {
                                    "fields": {
                                        "version": {
                                            "type": "Version",
                                            "id": 1,
                                            "comment": "Version that serves now; absent: the base model."
                                        },
                                        "replaced": {
                                            "type": "Version",
                                            "id": 2,
                                            "comment": "Version that served before."
                                        }
                                    }
                                },
                                "PinRequest": {
                                    "fields": {
                                        "name": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "digest": {
                                            "type": "string",
                                            "id": 2
                                        }
                                    }
                                },
                                "PinResponse": {
                                    "fields": {
                                        "version": {
                                            "type": "Version",
                                            "id": 1
                                        }
                                    }
                                },
                                "UnpinRequest": {
                                    "fields": {
                                        "name": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "digest": {
                                            "type": "string",
                                            "id": 2
                                        }
                                    }
                                },
                                "UnpinResponse": {
                                    "fields": {
                                        "version": {
                                            "type": "Version",
                                            "id": 1
                                        }
                                    }
                                },
                                "DeleteRequest": {
                                    "fields": {
                                        "name": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "digest": {
                                            "type": "string",
                                            "id": 2
                                        }
                                    }
                                },
                                "DeleteResponse": {
                                    "fields": {}
                                },
                                "AdapterService": {
                                    "methods": {
                                        "Push": {
                                            "requestType": "PushRequest",
                                            "requestStream": true,
                                            "responseType": "PushResponse",
                                            "comment": "Keeps a version and validates it. Pushing the same again changes nothing. Of two pushes of one name\nat a time the second is refused with PUSH_CONFLICT."
                                        },
                                        "List": {
                                            "requestType": "ListRequest",
                                            "responseType": "ListResponse"
                                        },
                                        "Get": {
                                            "requestType": "GetRequest",
                                            "responseType": "GetResponse"
                                        },
                                        "Activate": {
                                            "requestType": "ActivateRequest",
                                            "responseType": "ActivateResponse",
                                            "comment": "Serves it from the next request on, for a share of the users or for all."
                                        },
                                        "Rollback": {
                                            "requestType": "RollbackRequest",
                                            "responseType": "RollbackResponse",
                                            "comment": "Ends the canary of the name; without one, goes back to the version that was active before, or to\nthe base model. For the next request."
                                        },
                                        "Pin": {
                                            "requestType": "PinRequest",
                                            "responseType": "PinResponse",
                                            "comment": "Keeps it loaded and on disk, so that requests may name it."
                                        },
                                        "Unpin": {
                                            "requestType": "UnpinRequest",
                                            "responseType": "UnpinResponse"
                                        },
                                        "Delete": {
                                            "requestType": "DeleteRequest",
                                            "responseType": "DeleteResponse",
                                            "comment": "Of one that serves nobody and is not pinned."
                                        }
                                    },
                                    "comment": "Versions of adapters: in, on trial, in service, back and out (docs/operate/adapter-versions.md). An answer means that\nwhat it says is kept. Failures carry the status of docs/operate/errors.md. Metadata `authorization: Bearer\nTOKEN` where access is checked: Push needs the scope `push`, List and Get `read`, others `activate`."
                                }
                            }
                        }
                    }
                },
                "behaviour": {
                    "nested": {
                        "events": {
                            "nested": {
                                "v1": {
                                    "options": {
                                        "go_package": "tessera.dev/go/behaviour/events/v1;behavioureventsv1",
                                        "java_multiple_files": true,
                                        "java_package": "dev.tessera.behaviour.events.v1"
                                    },
                                    "nested": {
                                        "BehaviourEvent": {
                                            "fields": {
                                                "behaviour": {
                                                    "type": "tessera.behaviour.v1.Behaviour",
                                                    "id": 1
                                                }
                                            }
                                        }
                                    }
                                }
                            }
                        },
                        "v1": {
                            "options": {
                                "go_package": "tessera.dev/go/behaviour/v1;behaviourv1",
                                "java_multiple_files": true,
                                "java_package": "dev.tessera.behaviour.v1"
                            },
                            "nested": {
                                "Behaviour": {
                                    "oneofs": {
                                        "_requestId": {
                                            "oneof": [
                                                "requestId"
                                            ]
                                        },
                                        "_position": {
                                            "oneof": [
                                                "position"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "userId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "eventId": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "The producer's name of the event. An event that is sent again bears the same name and counts once."
                                        },
                                        "itemId": {
                                            "type": "string",
                                            "id": 3
                                        },
                                        "action": {
                                            "type": "string",
                                            "id": 4,
                                            "comment": "e.g. `click`; decides how long it is kept."
                                        },
                                        "timeMs": {
                                            "type": "int64",
                                            "id": 5,
                                            "comment": "Milliseconds since 1970, when the user did it. At most five minutes ahead; what looks like another unit is refused.\nBehaviours of one time are kept in the order in which they arrive."
                                        },
                                        "scene": {
                                            "keyType": "string",
                                            "type": "string",
                                            "id": 6,
                                            "comment": "Where and when the user did it."
                                        },
                                        "requestId": {
                                            "type": "string",
                                            "id": 7,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Of the recall that showed the item: its outcome is counted there. Absent: the newest recall of the user\nwith the item, within a time (docs/operate/analysis.md). Not kept with the history."
                                        },
                                        "position": {
                                            "type": "uint32",
                                            "id": 8,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Where the item stood, from 1. Absent: at its rank in the recall."
                                        }
                                    },
                                    "comment": "One thing that a user did."
                                },
                                "AppendOutcome": {
                                    "values": {
                                        "APPEND_OUTCOME_UNSPECIFIED": 0,
                                        "APPEND_OUTCOME_ADDED": 1,
                                        "APPEND_OUTCOME_DUPLICATE": 2,
                                        "APPEND_OUTCOME_OUTSIDE": 3
                                    },
                                    "comment": "Outcome of a behaviour.",
                                    "comments": {
                                        "APPEND_OUTCOME_ADDED": "Stored.",
                                        "APPEND_OUTCOME_DUPLICATE": "Its event was known already.",
                                        "APPEND_OUTCOME_OUTSIDE": "Older than what is kept, or than the erasure of its user."
                                    }
                                },
                                "AppendRequest": {
                                    "fields": {
                                        "behaviours": {
                                            "rule": "repeated",
                                            "type": "Behaviour",
                                            "id": 1,
                                            "comment": "Of any users, in any order. Taken whole or refused whole."
                                        }
                                    }
                                },
                                "AppendResponse": {
                                    "fields": {
                                        "outcomes": {
                                            "rule": "repeated",
                                            "type": "AppendOutcome",
                                            "id": 1,
                                            "comment": "One per behaviour, in their order."
                                        }
                                    }
                                },
                                "HistoryRequest": {
                                    "oneofs": {
                                        "_limit": {
                                            "oneof": [
                                                "limit"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "userId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "limit": {
                                            "type": "uint32",
                                            "id": 2,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "The newest so many; 100 when absent."
                                        }
                                    }
                                },
                                "HistoryResponse": {
                                    "fields": {
                                        "behaviours": {
                                            "rule": "repeated",
                                            "type": "Behaviour",
                                            "id": 1,
                                            "comment": "Oldest first."
                                        },
                                        "profile": {
                                            "keyType": "string",
                                            "type": "string",
                                            "id": 2
                                        }
                                    }
                                },
                                "PutProfileRequest": {
                                    "fields": {
                                        "userId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "profile": {
                                            "keyType": "string",
                                            "type": "string",
                                            "id": 2,
                                            "comment": "Replaces what is there."
                                        }
                                    }
                                },
                                "PutProfileResponse": {
                                    "fields": {}
                                },
                                "EraseRequest": {
                                    "fields": {
                                        "userId": {
                                            "type": "string",
                                            "id": 1
                                        }
                                    }
                                },
                                "EraseResponse": {
                                    "fields": {
                                        "known": {
                                            "type": "bool",
                                            "id": 1,
                                            "comment": "False: nothing was known of the user."
                                        }
                                    }
                                },
                                "BehaviourService": {
                                    "methods": {
                                        "Append": {
                                            "requestType": "AppendRequest",
                                            "responseType": "AppendResponse",
                                            "comment": "Stores behaviours; they are on disk when the call returns. May be repeated: an event counts once."
                                        },
                                        "History": {
                                            "requestType": "HistoryRequest",
                                            "responseType": "HistoryResponse",
                                            "comment": "The newest behaviours of a user, oldest first, and the profile. Long ones come to more than the 4 MiB that gRPC's clients take by default: raise their limit."
                                        },
                                        "PutProfile": {
                                            "requestType": "PutProfileRequest",
                                            "responseType": "PutProfileResponse",
                                            "comment": "Replaces the profile of a user."
                                        },
                                        "Erase": {
                                            "requestType": "EraseRequest",
                                            "responseType": "EraseResponse",
                                            "comment": "Forgets all of a user. Events up to now are refused from then on."
                                        }
                                    },
                                    "comment": "Profiles and behaviours. Failures carry the status of docs/operate/errors.md, the code in the trailer\n`tessera-code` and, where a field is at fault, its path in `tessera-field`."
                                }
                            }
                        }
                    }
                },
                "catalogue": {
                    "nested": {
                        "events": {
                            "nested": {
                                "v1": {
                                    "options": {
                                        "go_package": "tessera.dev/go/catalogue/events/v1;catalogueeventsv1",
                                        "java_multiple_files": true,
                                        "java_package": "dev.tessera.catalogue.events.v1"
                                    },
                                    "nested": {
                                        "CatalogueChanged": {
                                            "fields": {
                                                "changes": {
                                                    "rule": "repeated",
                                                    "type": "tessera.catalogue.v1.Change",
                                                    "id": 1,
                                                    "comment": "All are applied or none, in their order; each item is named at most once."
                                                },
                                                "catalogue": {
                                                    "type": "string",
                                                    "id": 2,
                                                    "comment": "Name of the catalogue; empty: the first."
                                                }
                                            }
                                        }
                                    }
                                }
                            }
                        },
                        "v1": {
                            "options": {
                                "go_package": "tessera.dev/go/catalogue/v1;cataloguev1",
                                "java_multiple_files": true,
                                "java_package": "dev.tessera.catalogue.v1"
                            },
                            "nested": {
                                "Upsert": {
                                    "fields": {
                                        "itemId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "sid": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 2,
                                            "comment": "Level-local codes; another semantic ID than before moves the item. Empty beside a vector or text."
                                        },
                                        "title": {
                                            "type": "string",
                                            "id": 3
                                        },
                                        "attributes": {
                                            "type": "string",
                                            "id": 4,
                                            "comment": "Text of a JSON object; empty for none."
                                        },
                                        "priority": {
                                            "type": "double",
                                            "id": 5,
                                            "comment": "Order among the items of a semantic ID, highest first."
                                        },
                                        "vector": {
                                            "rule": "repeated",
                                            "type": "float",
                                            "id": 6,
                                            "comment": "An item that exists keeps the semantic ID that it has."
                                        },
                                        "text": {
                                            "type": "string",
                                            "id": 7,
                                            "comment": "The same; empty for none."
                                        },
                                        "codebooks": {
                                            "type": "string",
                                            "id": 8,
                                            "comment": "Digest of the codebooks that are meant; empty: any."
                                        }
                                    },
                                    "comment": "An item as a whole. An item that exists is replaced, and stays paused where it is. It comes with its\nsemantic ID, or with a vector or a text that the catalogue's codebooks give one."
                                },
                                "SetAttributes": {
                                    "fields": {
                                        "itemId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "attributes": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "Text of the JSON object that takes the place of the one before."
                                        }
                                    }
                                },
                                "SetPriority": {
                                    "fields": {
                                        "itemId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "priority": {
                                            "type": "double",
                                            "id": 2
                                        }
                                    }
                                },
                                "PatchTexts": {
                                    "fields": {
                                        "attribute": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "texts": {
                                            "rule": "repeated",
                                            "type": "string",
                                            "id": 2
                                        }
                                    }
                                },
                                "PatchNumber": {
                                    "fields": {
                                        "attribute": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "delta": {
                                            "type": "double",
                                            "id": 2
                                        }
                                    }
                                },
                                "PatchAttributes": {
                                    "oneofs": {
                                        "items": {
                                            "oneof": [
                                                "itemId",
                                                "matching"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "itemId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "matching": {
                                            "type": "tessera.recall.v1.Predicate",
                                            "id": 2,
                                            "comment": "Every item that it lets pass, paused ones too."
                                        },
                                        "set": {
                                            "type": "string",
                                            "id": 3,
                                            "comment": "Text of a JSON object whose members are put in, or take the place of those there are; empty for none."
                                        },
                                        "unset": {
                                            "rule": "repeated",
                                            "type": "string",
                                            "id": 4,
                                            "comment": "Members that are taken out, where they are there."
                                        },
                                        "add": {
                                            "rule": "repeated",
                                            "type": "PatchTexts",
                                            "id": 5,
                                            "comment": "Texts put into sets; a set that is not there begins empty."
                                        },
                                        "take": {
                                            "rule": "repeated",
                                            "type": "PatchTexts",
                                            "id": 6,
                                            "comment": "Texts taken from sets."
                                        },
                                        "delta": {
                                            "rule": "repeated",
                                            "type": "PatchNumber",
                                            "id": 7,
                                            "comment": "Added to numbers; a number that is not there counts as 0."
                                        }
                                    },
                                    "comment": "Edits of attributes; what they do not name stays as it is. An attribute is named by one edit at most.\nRefused where an attribute has another type than the edit wants, with the item."
                                },
                                "SetPace": {
                                    "fields": {
                                        "attribute": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "A text attribute, the `pace` of a valuation."
                                        },
                                        "text": {
                                            "type": "string",
                                            "id": 2
                                        },
                                        "factor": {
                                            "type": "double",
                                            "id": 3,
                                            "comment": "In (0, 1]; 1 takes a pace back."
                                        }
                                    },
                                    "comment": "Lowers the bids of all items that have a text, e.g. those of a campaign that spends too fast, until it is set again\n(docs/concepts/value.md)."
                                },
                                "Change": {
                                    "oneofs": {
                                        "change": {
                                            "oneof": [
                                                "upsert",
                                                "pauseItemId",
                                                "resumeItemId",
                                                "removeItemId",
                                                "setAttributes",
                                                "setPriority",
                                                "patchAttributes",
                                                "pauseMatching",
                                                "resumeMatching",
                                                "removeMatching",
                                                "setPace"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "upsert": {
                                            "type": "Upsert",
                                            "id": 1
                                        },
                                        "pauseItemId": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "The item stays known and is recalled no more."
                                        },
                                        "resumeItemId": {
                                            "type": "string",
                                            "id": 3
                                        },
                                        "removeItemId": {
                                            "type": "string",
                                            "id": 4,
                                            "comment": "The item is as if it had never been."
                                        },
                                        "setAttributes": {
                                            "type": "SetAttributes",
                                            "id": 5
                                        },
                                        "setPriority": {
                                            "type": "SetPriority",
                                            "id": 6
                                        },
                                        "patchAttributes": {
                                            "type": "PatchAttributes",
                                            "id": 7
                                        },
                                        "pauseMatching": {
                                            "type": "tessera.recall.v1.Predicate",
                                            "id": 8,
                                            "comment": "Every item that the predicate lets pass, paused ones too, when the change's turn comes."
                                        },
                                        "resumeMatching": {
                                            "type": "tessera.recall.v1.Predicate",
                                            "id": 9
                                        },
                                        "removeMatching": {
                                            "type": "tessera.recall.v1.Predicate",
                                            "id": 10
                                        },
                                        "setPace": {
                                            "type": "SetPace",
                                            "id": 11
                                        }
                                    }
                                },
                                "BundleStep": {
                                    "fields": {
                                        "follows": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "UUID of the bundle that the changes follow; empty: any."
                                        },
                                        "becomes": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "UUID of the bundle that the items are those of when the changes have been applied."
                                        }
                                    },
                                    "comment": "From the items of one bundle to those of the next."
                                },
                                "ImportMark": {
                                    "fields": {
                                        "name": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Of the import, 1 to 128 characters, the same in all of its batches and in no other import."
                                        },
                                        "position": {
                                            "type": "uint64",
                                            "id": 2,
                                            "comment": "Of the batch's end in the import (e.g. lines of a file); rises from batch to batch."
                                        }
                                    },
                                    "comment": "Names the batch of an import that the changes are. A batch that was applied is not applied again:\nall batches may be sent anew after a failure or a crash, those with deltas too."
                                },
                                "ApplyRequest": {
                                    "fields": {
                                        "changes": {
                                            "rule": "repeated",
                                            "type": "Change",
                                            "id": 1,
                                            "comment": "All are applied or none, in their order; each item is named at most once."
                                        },
                                        "bundle": {
                                            "type": "BundleStep",
                                            "id": 2,
                                            "comment": "Left out: the changes are no step from bundle to bundle."
                                        },
                                        "importMark": {
                                            "type": "ImportMark",
                                            "id": 3,
                                            "comment": "Left out: the changes are no batch of an import. Not beside `bundle`."
                                        },
                                        "catalogue": {
                                            "type": "string",
                                            "id": 15,
                                            "comment": "Name of the catalogue; empty: the first."
                                        }
                                    }
                                },
                                "Placed": {
                                    "fields": {
                                        "sid": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 1
                                        }
                                    },
                                    "comment": "The semantic ID of an item that came with a vector or a text."
                                },
                                "ApplyResponse": {
                                    "fields": {
                                        "sequence": {
                                            "type": "uint64",
                                            "id": 1,
                                            "comment": "Number of the last change: the version that has them. Changes by a predicate are numbered item by item."
                                        },
                                        "matched": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 2,
                                            "comment": "Per change with a predicate, in their order: items that it let pass."
                                        },
                                        "placed": {
                                            "rule": "repeated",
                                            "type": "Placed",
                                            "id": 3,
                                            "comment": "Per change with a vector or a text, in their order."
                                        },
                                        "alreadyApplied": {
                                            "type": "bool",
                                            "id": 4,
                                            "comment": "The batch of `import_mark`, or a change of this idempotency key, was applied before; nothing was done now."
                                        },
                                        "offset": {
                                            "type": "uint64",
                                            "id": 5,
                                            "comment": "Of the change's entry in the cluster log; 0: the node follows none."
                                        }
                                    }
                                },
                                "ApplyStreamRequest": {
                                    "fields": {
                                        "changes": {
                                            "rule": "repeated",
                                            "type": "Change",
                                            "id": 1,
                                            "comment": "As in ApplyRequest."
                                        },
                                        "catalogue": {
                                            "type": "string",
                                            "id": 15,
                                            "comment": "Name of the catalogue; empty: the first."
                                        }
                                    }
                                },
                                "ApplyStreamResponse": {
                                    "fields": {
                                        "sequence": {
                                            "type": "uint64",
                                            "id": 1,
                                            "comment": "As in ApplyResponse."
                                        },
                                        "matched": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 2
                                        },
                                        "placed": {
                                            "rule": "repeated",
                                            "type": "Placed",
                                            "id": 3
                                        },
                                        "offset": {
                                            "type": "uint64",
                                            "id": 5
                                        }
                                    }
                                },
                                "ApplyBatchRequest": {
                                    "fields": {
                                        "changes": {
                                            "rule": "repeated",
                                            "type": "Change",
                                            "id": 1,
                                            "comment": "As in ApplyRequest; an item at most once in all messages of the batch."
                                        },
                                        "bundle": {
                                            "type": "BundleStep",
                                            "id": 2,
                                            "comment": "As in ApplyRequest; in one of the messages at most."
                                        },
                                        "last": {
                                            "type": "bool",
                                            "id": 3,
                                            "comment": "The batch is whole with this message. Without one nothing is applied: the end of a stream may\nbe the end of its client."
                                        },
                                        "catalogue": {
                                            "type": "string",
                                            "id": 15,
                                            "comment": "Name of the catalogue; empty: the first. The same in all messages."
                                        }
                                    }
                                },
                                "ApplyBatchResponse": {
                                    "fields": {
                                        "sequence": {
                                            "type": "uint64",
                                            "id": 1,
                                            "comment": "As in ApplyResponse."
                                        },
                                        "matched": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 2
                                        },
                                        "placed": {
                                            "rule": "repeated",
                                            "type": "Placed",
                                            "id": 3
                                        },
                                        "offset": {
                                            "type": "uint64",
                                            "id": 5
                                        }
                                    }
                                },
                                "GetStateRequest": {
                                    "fields": {
                                        "catalogue": {
                                            "type": "string",
                                            "id": 15,
                                            "comment": "Name of the catalogue; empty: the first."
                                        }
                                    }
                                },
                                "GetStateResponse": {
                                    "fields": {
                                        "sequence": {
                                            "type": "uint64",
                                            "id": 1,
                                            "comment": "Number of the last change."
                                        },
                                        "base": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "Content digest of the snapshot under the newest version."
                                        },
                                        "liveItemCount": {
                                            "type": "uint64",
                                            "id": 3
                                        },
                                        "changedItemCount": {
                                            "type": "uint64",
                                            "id": 4,
                                            "comment": "Items that differ from the snapshot; compaction makes them none."
                                        },
                                        "replayedChanges": {
                                            "type": "uint64",
                                            "id": 5,
                                            "comment": "Changes found in the log at the start, and bytes cut from its damaged tail."
                                        },
                                        "cutBytes": {
                                            "type": "uint64",
                                            "id": 6
                                        },
                                        "bundleUuid": {
                                            "type": "string",
                                            "id": 7,
                                            "comment": "UUID of the bundle that the items are those of, but for changes since; empty: of none."
                                        },
                                        "levelSizes": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 8,
                                            "comment": "Codes per level that items may use."
                                        }
                                    }
                                },
                                "ListItemsRequest": {
                                    "fields": {
                                        "catalogue": {
                                            "type": "string",
                                            "id": 15,
                                            "comment": "Name of the catalogue; empty: the first."
                                        }
                                    }
                                },
                                "Item": {
                                    "fields": {
                                        "itemId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "sid": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 2
                                        },
                                        "title": {
                                            "type": "string",
                                            "id": 3
                                        },
                                        "attributes": {
                                            "type": "string",
                                            "id": 4
                                        },
                                        "priority": {
                                            "type": "double",
                                            "id": 5
                                        },
                                        "paused": {
                                            "type": "bool",
                                            "id": 6,
                                            "comment": "Known, and not recalled."
                                        }
                                    },
                                    "comment": "An item as it is."
                                },
                                "ListItemsResponse": {
                                    "fields": {
                                        "sequence": {
                                            "type": "uint64",
                                            "id": 1
                                        },
                                        "items": {
                                            "rule": "repeated",
                                            "type": "Item",
                                            "id": 2
                                        }
                                    },
                                    "comment": "Some of the items; the stream has all of one version."
                                },
                                "ListVersionsRequest": {
                                    "fields": {
                                        "catalogue": {
                                            "type": "string",
                                            "id": 15,
                                            "comment": "Name of the catalogue; empty: the first."
                                        }
                                    }
                                },
                                "Generation": {
                                    "fields": {
                                        "firstSequence": {
                                            "type": "uint64",
                                            "id": 1,
                                            "comment": "Versions that can be rolled back to; inside a batch there is none."
                                        },
                                        "lastSequence": {
                                            "type": "uint64",
                                            "id": 2
                                        },
                                        "logBytes": {
                                            "type": "uint64",
                                            "id": 3
                                        },
                                        "base": {
                                            "type": "string",
                                            "id": 4
                                        }
                                    },
                                    "comment": "A snapshot and the log of the changes since."
                                },
                                "ListVersionsResponse": {
                                    "fields": {
                                        "generations": {
                                            "rule": "repeated",
                                            "type": "Generation",
                                            "id": 1,
                                            "comment": "Oldest first."
                                        }
                                    }
                                },
                                "CompactRequest": {
                                    "fields": {
                                        "catalogue": {
                                            "type": "string",
                                            "id": 15,
                                            "comment": "Name of the catalogue; empty: the first."
                                        }
                                    }
                                },
                                "CompactResponse": {
                                    "fields": {
                                        "sequence": {
                                            "type": "uint64",
                                            "id": 1
                                        }
                                    }
                                },
                                "RollBackRequest": {
                                    "fields": {
                                        "sequence": {
                                            "type": "uint64",
                                            "id": 1,
                                            "comment": "The version whose items are wanted back."
                                        },
                                        "catalogue": {
                                            "type": "string",
                                            "id": 15,
                                            "comment": "Name of the catalogue; empty: the first."
                                        }
                                    }
                                },
                                "RollBackResponse": {
                                    "fields": {
                                        "sequence": {
                                            "type": "uint64",
                                            "id": 1,
                                            "comment": "The new version, which has them."
                                        }
                                    }
                                },
                                "QuantiseRequest": {
                                    "oneofs": {
                                        "_neighbours": {
                                            "oneof": [
                                                "neighbours"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "vector": {
                                            "rule": "repeated",
                                            "type": "float",
                                            "id": 1,
                                            "comment": "One of the two, as in Upsert."
                                        },
                                        "text": {
                                            "type": "string",
                                            "id": 2
                                        },
                                        "codebooks": {
                                            "type": "string",
                                            "id": 3,
                                            "comment": "Digest of the codebooks that are meant; empty: any."
                                        },
                                        "neighbours": {
                                            "type": "uint32",
                                            "id": 4,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Items to show, at most 1,000; left out: 10."
                                        },
                                        "catalogue": {
                                            "type": "string",
                                            "id": 15,
                                            "comment": "Name of the catalogue; empty: the first."
                                        }
                                    }
                                },
                                "Neighbour": {
                                    "fields": {
                                        "itemId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "title": {
                                            "type": "string",
                                            "id": 2
                                        },
                                        "sid": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 3
                                        },
                                        "sharedLevels": {
                                            "type": "uint32",
                                            "id": 4,
                                            "comment": "How many of its first codes are the first codes of the answer."
                                        }
                                    },
                                    "comment": "A live item near a vector."
                                },
                                "QuantiseResponse": {
                                    "fields": {
                                        "codes": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 1,
                                            "comment": "The nearest, whether there is room or not."
                                        },
                                        "distances": {
                                            "rule": "repeated",
                                            "type": "double",
                                            "id": 2,
                                            "comment": "Per level: squared distance of the code to what the levels before have left."
                                        },
                                        "sid": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 3,
                                            "comment": "Semantic ID that an item with this vector would get now; empty: none of the nearest has room."
                                        },
                                        "neighbours": {
                                            "rule": "repeated",
                                            "type": "Neighbour",
                                            "id": 4,
                                            "comment": "Those that share most first codes first, then in the order of their semantic IDs."
                                        },
                                        "codebooks": {
                                            "type": "string",
                                            "id": 5,
                                            "comment": "Digest of the codebooks."
                                        },
                                        "sequence": {
                                            "type": "uint64",
                                            "id": 6,
                                            "comment": "Number of the last change of the version that was looked at."
                                        }
                                    }
                                },
                                "CatalogueService": {
                                    "methods": {
                                        "Apply": {
                                            "requestType": "ApplyRequest",
                                            "responseType": "ApplyResponse",
                                            "comment": "One batch."
                                        },
                                        "ApplyStream": {
                                            "requestType": "ApplyStreamRequest",
                                            "requestStream": true,
                                            "responseType": "ApplyStreamResponse",
                                            "responseStream": true,
                                            "comment": "Batch after batch, each answered in its turn; a refused batch ends the stream."
                                        },
                                        "ApplyBatch": {
                                            "requestType": "ApplyBatchRequest",
                                            "requestStream": true,
                                            "responseType": "ApplyBatchResponse",
                                            "comment": "One batch in several messages, for more changes than a message takes. Nothing is applied before\nthe last message; then all is, as one version, or nothing."
                                        },
                                        "Quantise": {
                                            "requestType": "QuantiseRequest",
                                            "responseType": "QuantiseResponse",
                                            "comment": "The semantic ID that a vector or a text would get, and the items near it. Changes nothing."
                                        },
                                        "GetState": {
                                            "requestType": "GetStateRequest",
                                            "responseType": "GetStateResponse"
                                        },
                                        "ListItems": {
                                            "requestType": "ListItemsRequest",
                                            "responseType": "ListItemsResponse",
                                            "responseStream": true,
                                            "comment": "Every item of the newest version."
                                        },
                                        "ListVersions": {
                                            "requestType": "ListVersionsRequest",
                                            "responseType": "ListVersionsResponse"
                                        },
                                        "Compact": {
                                            "requestType": "CompactRequest",
                                            "responseType": "CompactResponse",
                                            "comment": "Makes a new snapshot of the newest version; serving goes on meanwhile."
                                        },
                                        "RollBack": {
                                            "requestType": "RollBackRequest",
                                            "responseType": "RollBackResponse"
                                        }
                                    },
                                    "comment": "Changes of the catalogue while it serves. An answer means that the changes are kept and that the\nnext recall sees them. Failures carry the status of docs/operate/errors.md and, in the trailer\n`tessera-field`, which change is at fault."
                                }
                            }
                        }
                    }
                },
                "recall": {
                    "nested": {
                        "v1": {
                            "options": {
                                "go_package": "tessera.dev/go/recall/v1;recallv1",
                                "java_multiple_files": true,
                                "java_package": "dev.tessera.recall.v1"
                            },
                            "nested": {
                                "ScoreNorm": {
                                    "values": {
                                        "SCORE_NORM_UNSPECIFIED": 0,
                                        "SCORE_NORM_FULL": 1,
                                        "SCORE_NORM_LEVEL": 2,
                                        "SCORE_NORM_ALLOWED": 3
                                    },
                                    "comment": "Over which tokens the log-probability of a code is normalised.",
                                    "comments": {
                                        "SCORE_NORM_UNSPECIFIED": "The configured default.",
                                        "SCORE_NORM_FULL": "The whole vocabulary, before masking.",
                                        "SCORE_NORM_LEVEL": "The codes of the level.",
                                        "SCORE_NORM_ALLOWED": "The children that the catalogue allows at this step."
                                    }
                                },
                                "Priority": {
                                    "values": {
                                        "PRIORITY_UNSPECIFIED": 0,
                                        "PRIORITY_HIGH": 1,
                                        "PRIORITY_NORMAL": 2,
                                        "PRIORITY_LOW": 3
                                    },
                                    "comment": "Which request goes first where requests compete for the engine. No class starves.",
                                    "comments": {
                                        "PRIORITY_UNSPECIFIED": "Normal."
                                    }
                                },
                                "Search": {
                                    "values": {
                                        "SEARCH_UNSPECIFIED": 0,
                                        "SEARCH_CERTIFIED": 1,
                                        "SEARCH_BEAM": 2
                                    },
                                    "comment": "How the items of an answer are found (docs/concepts/search.md).",
                                    "comments": {
                                        "SEARCH_UNSPECIFIED": "The configured default; a beam where the request gives `widths`.",
                                        "SEARCH_CERTIFIED": "Until it is proved that no other item is better, or `row_budget` is spent.",
                                        "SEARCH_BEAM": "Of each step the `widths` best go on; whatever lies below the others is not seen."
                                    }
                                },
                                "History": {
                                    "fields": {
                                        "itemIds": {
                                            "rule": "repeated",
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Item IDs, oldest first."
                                        }
                                    },
                                    "comment": "An explicit behaviour of the user."
                                },
                                "TextClause": {
                                    "fields": {
                                        "attribute": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "values": {
                                            "rule": "repeated",
                                            "type": "string",
                                            "id": 2
                                        }
                                    },
                                    "comment": "One of the texts or sets of texts that an item carries as attributes."
                                },
                                "RangeClause": {
                                    "oneofs": {
                                        "_min": {
                                            "oneof": [
                                                "min"
                                            ]
                                        },
                                        "_max": {
                                            "oneof": [
                                                "max"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "attribute": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "min": {
                                            "type": "double",
                                            "id": 2,
                                            "options": {
                                                "proto3_optional": true
                                            }
                                        },
                                        "max": {
                                            "type": "double",
                                            "id": 3,
                                            "options": {
                                                "proto3_optional": true
                                            }
                                        }
                                    },
                                    "comment": "A number in [min, max]; either may be left out."
                                },
                                "Predicates": {
                                    "fields": {
                                        "predicates": {
                                            "rule": "repeated",
                                            "type": "Predicate",
                                            "id": 1
                                        }
                                    }
                                },
                                "Predicate": {
                                    "oneofs": {
                                        "form": {
                                            "oneof": [
                                                "all",
                                                "any",
                                                "not",
                                                "in",
                                                "contains",
                                                "range"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "all": {
                                            "type": "Predicates",
                                            "id": 1
                                        },
                                        "any": {
                                            "type": "Predicates",
                                            "id": 2
                                        },
                                        "not": {
                                            "type": "Predicate",
                                            "id": 3
                                        },
                                        "in": {
                                            "type": "TextClause",
                                            "id": 4,
                                            "comment": "A text that is one of the values."
                                        },
                                        "contains": {
                                            "type": "TextClause",
                                            "id": 5,
                                            "comment": "A set that has at least one of the values."
                                        },
                                        "range": {
                                            "type": "RangeClause",
                                            "id": 6
                                        }
                                    },
                                    "comment": "About the attributes of an item. A clause about an attribute that the item lacks is false."
                                },
                                "ItemList": {
                                    "fields": {
                                        "itemIds": {
                                            "rule": "repeated",
                                            "type": "string",
                                            "id": 1
                                        }
                                    }
                                },
                                "Eligibility": {
                                    "fields": {
                                        "predicate": {
                                            "type": "Predicate",
                                            "id": 1
                                        },
                                        "allowed": {
                                            "type": "ItemList",
                                            "id": 2,
                                            "comment": "These alone, where given."
                                        },
                                        "denied": {
                                            "rule": "repeated",
                                            "type": "string",
                                            "id": 3,
                                            "comment": "Not these."
                                        },
                                        "seen": {
                                            "rule": "repeated",
                                            "type": "string",
                                            "id": 4,
                                            "comment": "Nor these: what the user has seen already."
                                        }
                                    },
                                    "comment": "Which items this request may get. The search is exact among them."
                                },
                                "FrequencyCap": {
                                    "fields": {
                                        "action": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Of the behaviours that count, e.g. `impression`; `*`: of all actions."
                                        },
                                        "maxBehaviours": {
                                            "type": "uint32",
                                            "id": 2,
                                            "comment": "At least 1; an item with so many is not to be had."
                                        },
                                        "windowSeconds": {
                                            "type": "uint32",
                                            "id": 3,
                                            "comment": "Behaviours of the last so many seconds count, by the clock of the service; at least 1. One that is to come counts\nas one of now."
                                        },
                                        "attribute": {
                                            "type": "string",
                                            "id": 4,
                                            "comment": "A text attribute, e.g. `campaign`: behaviours with items that share a text of it count together, and no item with\nthat text is to be had. Empty: each item counts alone."
                                        }
                                    },
                                    "comment": "How often the user may have done something with an item, or with items that share a text, before it is not to be\nhad any more: `at most 3 impressions in a day`. Counted over the behaviours that the service keeps of the user and\nreads for the recall (docs/concepts/eligibility.md). A recall with a cap of its own names a `user_id`."
                                },
                                "DiversityCap": {
                                    "fields": {
                                        "attribute": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "maxItems": {
                                            "type": "uint32",
                                            "id": 2,
                                            "comment": "At least 1."
                                        }
                                    },
                                    "comment": "Items of an answer that share a value of a text attribute, at most."
                                },
                                "ItemPolicy": {
                                    "fields": {
                                        "orderBy": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "A number attribute, highest first; items without it last. Empty: the priority of the items. Ties\ngo by priority, then item ID."
                                        },
                                        "diversity": {
                                            "rule": "repeated",
                                            "type": "DiversityCap",
                                            "id": 2
                                        }
                                    },
                                    "comment": "How items are chosen among those of the found semantic IDs."
                                },
                                "RelevanceGate": {
                                    "oneofs": {
                                        "_minScore": {
                                            "oneof": [
                                                "minScore"
                                            ]
                                        },
                                        "_weight": {
                                            "oneof": [
                                                "weight"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "query": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Not empty."
                                        },
                                        "minScore": {
                                            "type": "double",
                                            "id": 2,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Items of a lower score, and those without one, are left out."
                                        },
                                        "weight": {
                                            "type": "double",
                                            "id": 3,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Items go by their score plus so many times their relevance score; those without one last."
                                        },
                                        "adapter": {
                                            "type": "string",
                                            "id": 4,
                                            "comment": "Name of an adapter to score with (`relevance.adapters`), not the recall's; `base` or empty: the model alone."
                                        }
                                    },
                                    "comment": "Recalled items are scored for a query by the model of `relevance.path`, by their titles (docs/integrate/relevance.md). At least\none of min_score and weight is given."
                                },
                                "Valuation": {
                                    "oneofs": {
                                        "_scoreWeight": {
                                            "oneof": [
                                                "scoreWeight"
                                            ]
                                        },
                                        "_floor": {
                                            "oneof": [
                                                "floor"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "name": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Of the valuation; never empty."
                                        },
                                        "scoreWeight": {
                                            "type": "double",
                                            "id": 2,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "In place of its own; at least 0."
                                        },
                                        "weights": {
                                            "keyType": "string",
                                            "type": "double",
                                            "id": 3,
                                            "comment": "The same, by the name of the term."
                                        },
                                        "floor": {
                                            "type": "double",
                                            "id": 4,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Items of a lower value are not to be had; in place of its own."
                                        }
                                    },
                                    "comment": "Items go by their value, not their score alone (docs/concepts/value.md): the score times its weight plus the terms\nof a valuation that the service has (`recall.valuations`)."
                                },
                                "Explore": {
                                    "oneofs": {
                                        "extent": {
                                            "oneof": [
                                                "slots",
                                                "share"
                                            ]
                                        },
                                        "_temperature": {
                                            "oneof": [
                                                "temperature"
                                            ]
                                        },
                                        "_seed": {
                                            "oneof": [
                                                "seed"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "slots": {
                                            "type": "uint32",
                                            "id": 1,
                                            "comment": "Places, at most the items wanted."
                                        },
                                        "share": {
                                            "type": "double",
                                            "id": 2,
                                            "comment": "Of the items wanted, in (0, 1]; rounded up."
                                        },
                                        "temperature": {
                                            "type": "double",
                                            "id": 3,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "0.01 or more; 1 where absent: the model's own. A higher one draws unlikely items more often."
                                        },
                                        "seed": {
                                            "type": "uint64",
                                            "id": 4,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "The same request with the same seed draws the same items; drawn by the service where absent. At most 2^53 - 1,\nwhich numbers of JSON have exactly."
                                        }
                                    },
                                    "comment": "The last places of the answer are drawn from the model's distribution over all items that the request may get,\nwithout replacement (docs/concepts/exploration.md). Wants the norm `allowed`, which is the norm of such a recall where\nit names none."
                                },
                                "Rank": {
                                    "oneofs": {
                                        "_items": {
                                            "oneof": [
                                                "items"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "items": {
                                            "type": "uint32",
                                            "id": 1,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Of a recall: items that are recalled and ranked, of which `result_count` are answered; at least those, and the\nlarger of them and 200 where absent. Of a call that names its items it stays absent."
                                        },
                                        "adapter": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "The version with the heads: a name, whose version of the moment for this user it is, or the digest of a version\nthat is loaded. Empty: the name `ranking`."
                                        },
                                        "valuation": {
                                            "type": "Valuation",
                                            "id": 3,
                                            "comment": "By which ranked items go; its terms may be heads. Absent: by the first head."
                                        }
                                    },
                                    "comment": "Items are ranked by heads: what a version of an adapter says of each, read behind the user's prompt on the keys and\nvalues of the recall (docs/integrate/ranking.md)."
                                },
                                "RecallRequest": {
                                    "oneofs": {
                                        "source": {
                                            "oneof": [
                                                "userId",
                                                "history"
                                            ]
                                        },
                                        "_resultCount": {
                                            "oneof": [
                                                "resultCount"
                                            ]
                                        },
                                        "_itemsPerSid": {
                                            "oneof": [
                                                "itemsPerSid"
                                            ]
                                        },
                                        "_deadlineMs": {
                                            "oneof": [
                                                "deadlineMs"
                                            ]
                                        },
                                        "_rowBudget": {
                                            "oneof": [
                                                "rowBudget"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "requestId": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "The caller's ID of this request, echoed; the service makes one when empty."
                                        },
                                        "userId": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "A user whose behaviour the service knows."
                                        },
                                        "history": {
                                            "type": "History",
                                            "id": 3,
                                            "comment": "A behaviour given with the request."
                                        },
                                        "profile": {
                                            "keyType": "string",
                                            "type": "string",
                                            "id": 4,
                                            "comment": "Profile of the user, for the slots of the prompt template."
                                        },
                                        "scene": {
                                            "keyType": "string",
                                            "type": "string",
                                            "id": 5,
                                            "comment": "Where and when the items will be shown, for the slots of the prompt template."
                                        },
                                        "resultCount": {
                                            "type": "uint32",
                                            "id": 6,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Items wanted; the configured default when absent."
                                        },
                                        "widths": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 7,
                                            "comment": "Of a beam: its width per step, the last holds for all further steps; the configured default when empty. A request\nthat gives widths and no `search` asks for a beam."
                                        },
                                        "itemsPerSid": {
                                            "type": "uint32",
                                            "id": 8,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Items per semantic ID at most; the configured default when absent, which is as few as fill the answer."
                                        },
                                        "scoreNorm": {
                                            "type": "ScoreNorm",
                                            "id": 9
                                        },
                                        "deadlineMs": {
                                            "type": "uint32",
                                            "id": 10,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Milliseconds the recall may take, beside the deadline of the call; the shorter one counts."
                                        },
                                        "skipUnknownItems": {
                                            "type": "bool",
                                            "id": 11,
                                            "options": {
                                                "deprecated": true
                                            },
                                            "comment": "Without effect: history items that the catalogue does not know are left out and counted."
                                        },
                                        "priority": {
                                            "type": "Priority",
                                            "id": 12
                                        },
                                        "refuseUnknownItems": {
                                            "type": "bool",
                                            "id": 13,
                                            "comment": "Refuse history items that the catalogue does not know with ITEM_NOT_FOUND, instead of leaving them out."
                                        },
                                        "requireHistory": {
                                            "type": "bool",
                                            "id": 14,
                                            "comment": "Refuse a user without behaviours in the catalogue (USER_NOT_FOUND, REQUEST_INVALID), instead of answering\nfrom profile and scene or with popular items (fallback `no-history`, `popular`: recall.withoutHistory)."
                                        },
                                        "eligibility": {
                                            "type": "Eligibility",
                                            "id": 20
                                        },
                                        "itemPolicy": {
                                            "type": "ItemPolicy",
                                            "id": 21
                                        },
                                        "allowPartial": {
                                            "type": "bool",
                                            "id": 22,
                                            "comment": "Rather a narrower search, or what of it has finished, than DEADLINE_EXCEEDED."
                                        },
                                        "catalogue": {
                                            "type": "string",
                                            "id": 23,
                                            "comment": "Name of the catalogue to find items in; empty: the first."
                                        },
                                        "adapter": {
                                            "type": "string",
                                            "id": 24,
                                            "comment": "Adapter to answer with (docs/operate/adapter-versions.md): a name, whose version of the moment for this user it is; the\ndigest of a version that is loaded; `base` for the model without one. Empty: the configured name."
                                        },
                                        "attributes": {
                                            "rule": "repeated",
                                            "type": "string",
                                            "id": 25,
                                            "comment": "Names of attributes that each item of the answer shall carry: 16 at most."
                                        },
                                        "frequencyCaps": {
                                            "rule": "repeated",
                                            "type": "FrequencyCap",
                                            "id": 26,
                                            "comment": "8 at most; the configured ones (recall.frequencyCaps) when empty."
                                        },
                                        "relevance": {
                                            "type": "RelevanceGate",
                                            "id": 27
                                        },
                                        "search": {
                                            "type": "Search",
                                            "id": 28
                                        },
                                        "rowBudget": {
                                            "type": "uint32",
                                            "id": 29,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Of a certified search: rows of beams that it computes at most; the configured default when absent."
                                        },
                                        "inspect": {
                                            "type": "bool",
                                            "id": 30,
                                            "comment": "Record it for the console, whatever the share of recalls that is recorded."
                                        },
                                        "valuation": {
                                            "type": "Valuation",
                                            "id": 31
                                        },
                                        "explore": {
                                            "type": "Explore",
                                            "id": 32
                                        },
                                        "rank": {
                                            "type": "Rank",
                                            "id": 33
                                        }
                                    }
                                },
                                "ItemValue": {
                                    "oneofs": {
                                        "_criticalBid": {
                                            "oneof": [
                                                "criticalBid"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "value": {
                                            "type": "double",
                                            "id": 1,
                                            "comment": "The score times its weight plus the terms."
                                        },
                                        "terms": {
                                            "keyType": "string",
                                            "type": "double",
                                            "id": 2,
                                            "comment": "Weighted, by name; of a paced item's bid as it was paced."
                                        },
                                        "pace": {
                                            "type": "double",
                                            "id": 3,
                                            "comment": "Factor by which the item's pace lowered its bid; 1: none."
                                        },
                                        "criticalBid": {
                                            "type": "double",
                                            "id": 4,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "The lowest bid with which the item would still be in this answer. Absent where the answer is not certified, where\nnothing was left out, and where caps make one item's place depend on another's."
                                        }
                                    },
                                    "comment": "The value of an item by the valuation of a recall."
                                },
                                "ItemRanking": {
                                    "oneofs": {
                                        "_value": {
                                            "oneof": [
                                                "value"
                                            ]
                                        },
                                        "_recallRank": {
                                            "oneof": [
                                                "recallRank"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "heads": {
                                            "keyType": "string",
                                            "type": "double",
                                            "id": 1,
                                            "comment": "Calibrated, by name: mostly probabilities."
                                        },
                                        "value": {
                                            "type": "ItemValue",
                                            "id": 2,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "By the valuation of the ranking, with the terms of heads; without a critical bid."
                                        },
                                        "recallRank": {
                                            "type": "uint32",
                                            "id": 3,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Place in the recall, from 1; absent of items that a caller named."
                                        }
                                    },
                                    "comment": "What heads say of an item."
                                },
                                "RecalledItem": {
                                    "oneofs": {
                                        "_relevanceScore": {
                                            "oneof": [
                                                "relevanceScore"
                                            ]
                                        },
                                        "_value": {
                                            "oneof": [
                                                "value"
                                            ]
                                        },
                                        "_explored": {
                                            "oneof": [
                                                "explored"
                                            ]
                                        },
                                        "_propensity": {
                                            "oneof": [
                                                "propensity"
                                            ]
                                        },
                                        "_ranking": {
                                            "oneof": [
                                                "ranking"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "itemId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "sid": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 2,
                                            "comment": "Codes of the item's semantic ID, one per level."
                                        },
                                        "score": {
                                            "type": "double",
                                            "id": 3,
                                            "comment": "Log-probability of the semantic ID; of a `popular` answer the logarithm of the item's share of recent\nbehaviours."
                                        },
                                        "rank": {
                                            "type": "uint32",
                                            "id": 4,
                                            "comment": "1 for the best item."
                                        },
                                        "title": {
                                            "type": "string",
                                            "id": 5
                                        },
                                        "attributes": {
                                            "type": "string",
                                            "id": 6,
                                            "comment": "Text of a JSON object of the attributes that the request names, of those that the item has; empty where it\nnames none."
                                        },
                                        "relevanceScore": {
                                            "type": "double",
                                            "id": 7,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Of a recall with `relevance`; absent where the item has no title, or was not scored in time."
                                        },
                                        "value": {
                                            "type": "ItemValue",
                                            "id": 8,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Of a recall with a valuation."
                                        },
                                        "explored": {
                                            "type": "bool",
                                            "id": 9,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Of a recall with `explore`: the item was drawn."
                                        },
                                        "propensity": {
                                            "type": "double",
                                            "id": 10,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Of a recall with `explore`: the probability with which the item came into the answer; 1 for one that was not drawn.\nAbsent as `exploration.no_propensities` says."
                                        },
                                        "ranking": {
                                            "type": "ItemRanking",
                                            "id": 11,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Of a recall with `rank`."
                                        }
                                    }
                                },
                                "AppliedValuation": {
                                    "oneofs": {
                                        "_floor": {
                                            "oneof": [
                                                "floor"
                                            ]
                                        },
                                        "_bestLeftOut": {
                                            "oneof": [
                                                "bestLeftOut"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "name": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "scoreWeight": {
                                            "type": "double",
                                            "id": 2
                                        },
                                        "weights": {
                                            "keyType": "string",
                                            "type": "double",
                                            "id": 3
                                        },
                                        "floor": {
                                            "type": "double",
                                            "id": 4,
                                            "options": {
                                                "proto3_optional": true
                                            }
                                        },
                                        "bestLeftOut": {
                                            "type": "double",
                                            "id": 5,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Value of the best item that was left out; absent where none was, and where it is not proved."
                                        }
                                    },
                                    "comment": "A valuation as it was applied."
                                },
                                "AppliedExploration": {
                                    "fields": {
                                        "slots": {
                                            "type": "uint32",
                                            "id": 1
                                        },
                                        "temperature": {
                                            "type": "double",
                                            "id": 2
                                        },
                                        "seed": {
                                            "type": "uint64",
                                            "id": 3
                                        },
                                        "noPropensities": {
                                            "type": "string",
                                            "id": 4,
                                            "comment": "Why drawn items have no propensity: `beam`, `capped` (diversity caps, or a cap of items of a semantic ID), `stopped`\n(the search was not certified), `popular` (popular items, none is drawn), `relevance` (a gate may have dropped items);\nempty: they have one."
                                        }
                                    },
                                    "comment": "An exploration as it was applied."
                                },
                                "AppliedRanking": {
                                    "oneofs": {
                                        "_valuation": {
                                            "oneof": [
                                                "valuation"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "adapter": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Digest and name of the version whose heads ranked."
                                        },
                                        "adapterName": {
                                            "type": "string",
                                            "id": 2
                                        },
                                        "items": {
                                            "type": "uint32",
                                            "id": 3,
                                            "comment": "Items that were ranked."
                                        },
                                        "leftOut": {
                                            "type": "uint32",
                                            "id": 4,
                                            "comment": "Of these, items that the valuation excludes, or that are below its floor: they are not in the answer."
                                        },
                                        "heads": {
                                            "rule": "repeated",
                                            "type": "string",
                                            "id": 5,
                                            "comment": "Names, in their order."
                                        },
                                        "valuation": {
                                            "type": "AppliedValuation",
                                            "id": 6,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Absent: items go by the first head."
                                        }
                                    },
                                    "comment": "A ranking as it was applied."
                                },
                                "RecallTimings": {
                                    "fields": {
                                        "featuresUs": {
                                            "type": "double",
                                            "id": 1
                                        },
                                        "promptUs": {
                                            "type": "double",
                                            "id": 2
                                        },
                                        "queueUs": {
                                            "type": "double",
                                            "id": 3
                                        },
                                        "prefillUs": {
                                            "type": "double",
                                            "id": 4
                                        },
                                        "decodeUs": {
                                            "type": "double",
                                            "id": 5
                                        },
                                        "headUs": {
                                            "type": "double",
                                            "id": 6
                                        },
                                        "selectUs": {
                                            "type": "double",
                                            "id": 7
                                        },
                                        "exportUs": {
                                            "type": "double",
                                            "id": 8
                                        },
                                        "totalUs": {
                                            "type": "double",
                                            "id": 9
                                        },
                                        "planUs": {
                                            "type": "double",
                                            "id": 10,
                                            "comment": "Deciding which requests run in a pass."
                                        },
                                        "projectionsUs": {
                                            "type": "double",
                                            "id": 11,
                                            "comment": "Of prefill and decode: products with the layers' weights."
                                        },
                                        "attentionUs": {
                                            "type": "double",
                                            "id": 12,
                                            "comment": "Of prefill and decode: attention."
                                        },
                                        "forkUs": {
                                            "type": "double",
                                            "id": 13,
                                            "comment": "Giving the beams that were selected their paths and keys."
                                        }
                                    },
                                    "comment": "Microseconds per stage."
                                },
                                "RecallVersions": {
                                    "fields": {
                                        "model": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "catalogue": {
                                            "type": "string",
                                            "id": 2
                                        },
                                        "promptTemplate": {
                                            "type": "string",
                                            "id": 3
                                        },
                                        "catalogueSequence": {
                                            "type": "uint64",
                                            "id": 4,
                                            "comment": "Number of the last change of the catalogue that the answer knows."
                                        },
                                        "adapter": {
                                            "type": "string",
                                            "id": 5,
                                            "comment": "Digest of the adapter's version and its name; empty: the base model alone."
                                        },
                                        "adapterName": {
                                            "type": "string",
                                            "id": 6
                                        },
                                        "node": {
                                            "type": "string",
                                            "id": 7,
                                            "comment": "Name of the process that made the answer (`node.name`)."
                                        }
                                    },
                                    "comment": "Content digests of what the answer was made with."
                                },
                                "Completeness": {
                                    "values": {
                                        "COMPLETENESS_UNSPECIFIED": 0,
                                        "COMPLETENESS_WHOLE": 1,
                                        "COMPLETENESS_NARROWED": 2,
                                        "COMPLETENESS_CUT": 3
                                    },
                                    "comment": "How much of the search that was asked for the answer has seen.",
                                    "comments": {
                                        "COMPLETENESS_NARROWED": "Fewer beams than asked for from some step on, as `widths_used` says.",
                                        "COMPLETENESS_CUT": "The paths that had finished when the deadline was near."
                                    }
                                },
                                "AppliedItemPolicy": {
                                    "fields": {
                                        "orderBy": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "diversity": {
                                            "rule": "repeated",
                                            "type": "DiversityCap",
                                            "id": 2
                                        },
                                        "itemsPerSid": {
                                            "type": "uint32",
                                            "id": 3
                                        },
                                        "resultCount": {
                                            "type": "uint32",
                                            "id": 4
                                        },
                                        "leftOutByDiversity": {
                                            "type": "uint32",
                                            "id": 5,
                                            "comment": "Items that a diversity cap kept out."
                                        }
                                    },
                                    "comment": "The policy as it was applied."
                                },
                                "KvProvenance": {
                                    "fields": {
                                        "tokensByTier": {
                                            "keyType": "string",
                                            "type": "uint32",
                                            "id": 1,
                                            "comment": "Found in the user KV pool, by the name of the tier that they lay in when the request arrived."
                                        },
                                        "sharedTokens": {
                                            "type": "uint32",
                                            "id": 4,
                                            "comment": "Taken from requests that ran at the same time."
                                        },
                                        "computedTokens": {
                                            "type": "uint32",
                                            "id": 5
                                        },
                                        "savedTokens": {
                                            "type": "uint32",
                                            "id": 6,
                                            "comment": "All that were not computed."
                                        },
                                        "waitUs": {
                                            "type": "double",
                                            "id": 7,
                                            "comment": "Microseconds waited for blocks on their way to the device when the request's turn had come."
                                        },
                                        "lossy": {
                                            "type": "bool",
                                            "id": 8,
                                            "comment": "Some of those found are not bit for bit those computed from nothing: they came back through a\nlossy codec, which is opt-in (kv.blockCodec). Scores may differ by what docs/internals/kv-pool.md says."
                                        },
                                        "inheritedTokens": {
                                            "type": "uint32",
                                            "id": 9,
                                            "comment": "Of those found, what an earlier version of the adapter computed, which is opt-in\n(adapters.kvVersionsBack). Scores may differ by what docs/integrate/adapters.md says."
                                        },
                                        "versionsBack": {
                                            "type": "uint32",
                                            "id": 10,
                                            "comment": "Versions between the oldest of these, or of those that were shared, and the one that answered;\n0: all were computed under it."
                                        }
                                    },
                                    "comment": "Where the keys and values of the prompt's tokens came from; docs/internals/kv-pool.md."
                                },
                                "RecallResponse": {
                                    "oneofs": {
                                        "_gap": {
                                            "oneof": [
                                                "gap"
                                            ]
                                        },
                                        "_valuation": {
                                            "oneof": [
                                                "valuation"
                                            ]
                                        },
                                        "_exploration": {
                                            "oneof": [
                                                "exploration"
                                            ]
                                        },
                                        "_ranking": {
                                            "oneof": [
                                                "ranking"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "requestId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "items": {
                                            "rule": "repeated",
                                            "type": "RecalledItem",
                                            "id": 2,
                                            "comment": "Best first."
                                        },
                                        "short": {
                                            "type": "bool",
                                            "id": 3,
                                            "comment": "True when fewer items exist than were asked for."
                                        },
                                        "widthsUsed": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 4,
                                            "comment": "Prefixes that each step kept at most, after capping by what is reachable, one per step."
                                        },
                                        "historyItems": {
                                            "type": "uint32",
                                            "id": 5,
                                            "comment": "History items that are in the prompt."
                                        },
                                        "trimmedItems": {
                                            "type": "uint32",
                                            "id": 6,
                                            "comment": "Oldest history items left out because the prompt would not fit."
                                        },
                                        "skippedItems": {
                                            "type": "uint32",
                                            "id": 7,
                                            "comment": "History items left out because the catalogue does not know them."
                                        },
                                        "promptTokens": {
                                            "type": "uint32",
                                            "id": 8
                                        },
                                        "versions": {
                                            "type": "RecallVersions",
                                            "id": 9
                                        },
                                        "timings": {
                                            "type": "RecallTimings",
                                            "id": 10
                                        },
                                        "prefixReusedTokens": {
                                            "type": "uint32",
                                            "id": 11,
                                            "comment": "Of the prompt's tokens, those that another request of the same batch computed."
                                        },
                                        "kv": {
                                            "type": "KvProvenance",
                                            "id": 12
                                        },
                                        "completeness": {
                                            "type": "Completeness",
                                            "id": 20
                                        },
                                        "itemPolicy": {
                                            "type": "AppliedItemPolicy",
                                            "id": 21
                                        },
                                        "fallback": {
                                            "type": "string",
                                            "id": 22,
                                            "comment": "Why less went into the prompt than is kept of the user; empty: nothing was missing. `no-features`:\nthe store of behaviours did not answer, and recall.withoutFeatures is `answer`. `no-history`: the user\nhas no behaviours, or none of their items is in the catalogue. `popular`: the same, and the items are those\nthat are popular."
                                        },
                                        "cappedItems": {
                                            "type": "uint32",
                                            "id": 23,
                                            "comment": "Items that the eligibility lets pass and a frequency cap keeps out."
                                        },
                                        "search": {
                                            "type": "Search",
                                            "id": 24,
                                            "comment": "As it was applied."
                                        },
                                        "certified": {
                                            "type": "bool",
                                            "id": 25,
                                            "comment": "No live and eligible item that the answer leaves out is better than those in it. Of a beam as well."
                                        },
                                        "gap": {
                                            "type": "double",
                                            "id": 26,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "The best score that an item missed by the search could have, of a recall by value the best value. Absent where\nthe answer is certified, and where nothing is known."
                                        },
                                        "rows": {
                                            "type": "uint32",
                                            "id": 27,
                                            "comment": "Rows of beams that were computed."
                                        },
                                        "valuation": {
                                            "type": "AppliedValuation",
                                            "id": 28,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Of a recall with a valuation."
                                        },
                                        "exploration": {
                                            "type": "AppliedExploration",
                                            "id": 29,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Of a recall with `explore`."
                                        },
                                        "ranking": {
                                            "type": "AppliedRanking",
                                            "id": 30,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Of a recall with `rank`. `certified` and `gap` speak of the items that were ranked, not of those answered."
                                        }
                                    }
                                },
                                "RecallBatchRequest": {
                                    "oneofs": {
                                        "_deadlineMs": {
                                            "oneof": [
                                                "deadlineMs"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "recalls": {
                                            "rule": "repeated",
                                            "type": "RecallRequest",
                                            "id": 1,
                                            "comment": "1 to 256, in any order; one user may have several. A batch that is no message, or has more, is refused whole."
                                        },
                                        "deadlineMs": {
                                            "type": "uint32",
                                            "id": 2,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Milliseconds the batch may take, beside the deadline of the call; the shorter one counts. A recall may have\nless by its own `deadline_ms`, and never more."
                                        }
                                    }
                                },
                                "RecallFailure": {
                                    "oneofs": {
                                        "_retryAfterMs": {
                                            "oneof": [
                                                "retryAfterMs"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "code": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "A code of docs/operate/errors.md."
                                        },
                                        "message": {
                                            "type": "string",
                                            "id": 2
                                        },
                                        "field": {
                                            "type": "string",
                                            "id": 3,
                                            "comment": "Path in the recall of the field at fault, as this file spells it; empty: none is."
                                        },
                                        "retryable": {
                                            "type": "bool",
                                            "id": 4,
                                            "comment": "True where the same recall may succeed later."
                                        },
                                        "retryAfterMs": {
                                            "type": "uint32",
                                            "id": 5,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Milliseconds from now after which a repeat may succeed."
                                        }
                                    },
                                    "comment": "Why a recall of a batch has no answer: what the status and the details of a call of its own would say."
                                },
                                "RecallOutcome": {
                                    "oneofs": {
                                        "outcome": {
                                            "oneof": [
                                                "answer",
                                                "failure"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "answer": {
                                            "type": "RecallResponse",
                                            "id": 1
                                        },
                                        "failure": {
                                            "type": "RecallFailure",
                                            "id": 2
                                        }
                                    }
                                },
                                "RecallBatchResponse": {
                                    "fields": {
                                        "outcomes": {
                                            "rule": "repeated",
                                            "type": "RecallOutcome",
                                            "id": 1,
                                            "comment": "One per recall, in their order."
                                        }
                                    }
                                },
                                "EstimateRequest": {
                                    "fields": {
                                        "userId": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "A gateway asks the node that serves this user; empty: any node."
                                        },
                                        "priority": {
                                            "type": "Priority",
                                            "id": 2
                                        }
                                    }
                                },
                                "EstimateResponse": {
                                    "fields": {
                                        "waitUs": {
                                            "type": "double",
                                            "id": 1,
                                            "comment": "Microseconds until the engine would begin the recall, by its own forecast."
                                        },
                                        "turnUs": {
                                            "type": "double",
                                            "id": 2,
                                            "comment": "Microseconds until the priority has its next turn, while more is asked for than can be computed; else 0."
                                        },
                                        "inFlight": {
                                            "type": "uint32",
                                            "id": 3,
                                            "comment": "Calls that have been admitted and not answered."
                                        }
                                    }
                                },
                                "RecallService": {
                                    "methods": {
                                        "Recall": {
                                            "requestType": "RecallRequest",
                                            "responseType": "RecallResponse",
                                            "comment": "Decodes semantic IDs from the user's behaviour and answers with the items behind them, best\nfirst. The call's deadline is the budget of the whole recall; cancelling the call stops it.\nMany items with attributes come to more than the 4 MiB that gRPC's clients take by default: raise\ntheir limit."
                                        },
                                        "RecallBatch": {
                                            "requestType": "RecallBatchRequest",
                                            "responseType": "RecallBatchResponse",
                                            "comment": "Recalls in one call, for a page of many users: each is admitted, computed and refused by itself. The call's\ndeadline is that of all; recalls that are still under way then are refused with DEADLINE_EXCEEDED."
                                        },
                                        "Estimate": {
                                            "requestType": "EstimateRequest",
                                            "responseType": "EstimateResponse",
                                            "comment": "The wait of a recall that came now, without one: for callers that choose a node, a width or a time."
                                        }
                                    },
                                    "comment": "Which live items fit this user now. Failures carry the status of docs/operate/errors.md, the code in the\ntrailer `tessera-code` and, where a field is at fault, its path in `tessera-field`."
                                }
                            }
                        },
                        "events": {
                            "nested": {
                                "v1": {
                                    "options": {
                                        "go_package": "tessera.dev/go/recall/events/v1;recalleventsv1",
                                        "java_multiple_files": true,
                                        "java_package": "dev.tessera.recall.events.v1"
                                    },
                                    "nested": {
                                        "RecallRequested": {
                                            "oneofs": {
                                                "_deadlineTimeMs": {
                                                    "oneof": [
                                                        "deadlineTimeMs"
                                                    ]
                                                }
                                            },
                                            "fields": {
                                                "request": {
                                                    "type": "tessera.recall.v1.RecallRequest",
                                                    "id": 1
                                                },
                                                "deadlineTimeMs": {
                                                    "type": "int64",
                                                    "id": 2,
                                                    "options": {
                                                        "proto3_optional": true
                                                    },
                                                    "comment": "Milliseconds since 1970 until which the answer is of use. A request that arrives later is refused with\nDEADLINE_EXCEEDED and not computed. Absent: the configured default, from the message's timestamp on."
                                                }
                                            }
                                        },
                                        "RecallRefusal": {
                                            "fields": {
                                                "code": {
                                                    "type": "string",
                                                    "id": 1
                                                },
                                                "message": {
                                                    "type": "string",
                                                    "id": 2
                                                },
                                                "field": {
                                                    "type": "string",
                                                    "id": 3,
                                                    "comment": "Path of the field at fault; empty where none is."
                                                },
                                                "retryable": {
                                                    "type": "bool",
                                                    "id": 4,
                                                    "comment": "The same request may succeed later, unchanged."
                                                },
                                                "retryAfterMs": {
                                                    "type": "uint32",
                                                    "id": 5,
                                                    "comment": "When a retry may succeed, milliseconds from now; 0: no hint."
                                                }
                                            },
                                            "comment": "Why there is no answer: a row of docs/operate/errors.md."
                                        },
                                        "RecallAnswered": {
                                            "oneofs": {
                                                "outcome": {
                                                    "oneof": [
                                                        "response",
                                                        "refusal"
                                                    ]
                                                }
                                            },
                                            "fields": {
                                                "response": {
                                                    "type": "tessera.recall.v1.RecallResponse",
                                                    "id": 1
                                                },
                                                "refusal": {
                                                    "type": "RecallRefusal",
                                                    "id": 2
                                                }
                                            }
                                        },
                                        "RecallAudited": {
                                            "oneofs": {
                                                "outcome": {
                                                    "oneof": [
                                                        "response",
                                                        "refusal"
                                                    ]
                                                }
                                            },
                                            "fields": {
                                                "timeMs": {
                                                    "type": "int64",
                                                    "id": 1,
                                                    "comment": "Milliseconds since 1970, when the answer was ready."
                                                },
                                                "edge": {
                                                    "type": "string",
                                                    "id": 2,
                                                    "comment": "grpc, http or kafka."
                                                },
                                                "request": {
                                                    "type": "AuditedRequest",
                                                    "id": 3
                                                },
                                                "response": {
                                                    "type": "tessera.recall.v1.RecallResponse",
                                                    "id": 4
                                                },
                                                "refusal": {
                                                    "type": "RecallRefusal",
                                                    "id": 5
                                                },
                                                "traceId": {
                                                    "type": "string",
                                                    "id": 6,
                                                    "comment": "Of the trace that the recall belongs to, 32 hexadecimal digits; empty where none was kept."
                                                },
                                                "arm": {
                                                    "type": "string",
                                                    "id": 7,
                                                    "comment": "Why it got its adapter: base, active, canary or named; empty where it was refused."
                                                },
                                                "predicateId": {
                                                    "type": "string",
                                                    "id": 8,
                                                    "comment": "Of its eligibility (docs/operate/analysis.md); empty without one."
                                                }
                                            },
                                            "comment": "The topic of audits (`recall.audits`): what was asked and answered, of\nevery recall on every edge, once. Key: the user ID, empty where the request names none; value: a RecallAudited;\nheader `tessera-version` as above. Audits are written behind the answers and never delay one: where the\nbroker is away for long, they are dropped and counted."
                                        },
                                        "AuditedRequest": {
                                            "fields": {
                                                "requestId": {
                                                    "type": "string",
                                                    "id": 1
                                                },
                                                "userId": {
                                                    "type": "string",
                                                    "id": 2,
                                                    "comment": "Empty where a history was given."
                                                },
                                                "history": {
                                                    "rule": "repeated",
                                                    "type": "string",
                                                    "id": 3
                                                },
                                                "profile": {
                                                    "keyType": "string",
                                                    "type": "string",
                                                    "id": 4
                                                },
                                                "scene": {
                                                    "keyType": "string",
                                                    "type": "string",
                                                    "id": 5
                                                },
                                                "resultCount": {
                                                    "type": "uint32",
                                                    "id": 6
                                                },
                                                "widths": {
                                                    "rule": "repeated",
                                                    "type": "uint32",
                                                    "id": 7
                                                },
                                                "itemsPerSid": {
                                                    "type": "uint32",
                                                    "id": 8
                                                },
                                                "scoreNorm": {
                                                    "type": "string",
                                                    "id": 9,
                                                    "comment": "full, level or allowed."
                                                },
                                                "priority": {
                                                    "type": "string",
                                                    "id": 10,
                                                    "comment": "high, normal or low."
                                                },
                                                "eligibility": {
                                                    "type": "string",
                                                    "id": 11,
                                                    "comment": "JSON of the predicate and the lists (docs/concepts/eligibility.md)."
                                                },
                                                "itemPolicy": {
                                                    "type": "tessera.recall.v1.ItemPolicy",
                                                    "id": 12
                                                },
                                                "allowPartial": {
                                                    "type": "bool",
                                                    "id": 13
                                                },
                                                "skipUnknownItems": {
                                                    "type": "bool",
                                                    "id": 14
                                                },
                                                "catalogue": {
                                                    "type": "string",
                                                    "id": 15
                                                },
                                                "adapter": {
                                                    "type": "string",
                                                    "id": 16
                                                },
                                                "frequencyCaps": {
                                                    "rule": "repeated",
                                                    "type": "tessera.recall.v1.FrequencyCap",
                                                    "id": 17
                                                },
                                                "search": {
                                                    "type": "string",
                                                    "id": 18,
                                                    "comment": "certified, beam, or empty: as is configured, or a beam where there are widths."
                                                },
                                                "rowBudget": {
                                                    "type": "uint32",
                                                    "id": 19
                                                },
                                                "valuation": {
                                                    "type": "tessera.recall.v1.Valuation",
                                                    "id": 20
                                                },
                                                "explore": {
                                                    "type": "tessera.recall.v1.Explore",
                                                    "id": 21
                                                },
                                                "rank": {
                                                    "type": "tessera.recall.v1.Rank",
                                                    "id": 22
                                                }
                                            },
                                            "comment": "A recall as it was understood. Fields are those of RecallRequest; 0 and empty where it said nothing."
                                        }
                                    }
                                }
                            }
                        }
                    }
                },
                "embedding": {
                    "nested": {
                        "v1": {
                            "options": {
                                "go_package": "tessera.dev/go/embedding/v1;embeddingv1",
                                "java_multiple_files": true,
                                "java_package": "dev.tessera.embedding.v1"
                            },
                            "nested": {
                                "NumberType": {
                                    "values": {
                                        "NUMBER_TYPE_UNSPECIFIED": 0,
                                        "NUMBER_TYPE_F32": 1,
                                        "NUMBER_TYPE_F16": 2
                                    },
                                    "comment": "How the numbers of vectors are written, little-endian.",
                                    "comments": {
                                        "NUMBER_TYPE_UNSPECIFIED": "F32.",
                                        "NUMBER_TYPE_F16": "Half precision (IEEE 754 binary16), each number rounded to the nearest."
                                    }
                                },
                                "EmbedRequest": {
                                    "oneofs": {
                                        "_dimensions": {
                                            "oneof": [
                                                "dimensions"
                                            ]
                                        },
                                        "_promptName": {
                                            "oneof": [
                                                "promptName"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "model": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Name of a model of embedding.models; empty: the first."
                                        },
                                        "texts": {
                                            "rule": "repeated",
                                            "type": "string",
                                            "id": 2,
                                            "comment": "At least one, none empty."
                                        },
                                        "dimensions": {
                                            "type": "uint32",
                                            "id": 3,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "The first numbers of each vector alone, of length 1 again where the model's vectors have it; left out: all."
                                        },
                                        "numberType": {
                                            "type": "NumberType",
                                            "id": 4
                                        },
                                        "promptName": {
                                            "type": "string",
                                            "id": 5,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Of the model's prompts, which stand before each text; left out: the model's default, if it has one."
                                        }
                                    }
                                },
                                "EmbedResponse": {
                                    "fields": {
                                        "model": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "The model's name."
                                        },
                                        "dimensions": {
                                            "type": "uint32",
                                            "id": 2,
                                            "comment": "Numbers of a vector."
                                        },
                                        "vectors": {
                                            "type": "bytes",
                                            "id": 3,
                                            "comment": "The vectors of the texts in the order asked, end to end."
                                        },
                                        "tokens": {
                                            "type": "uint32",
                                            "id": 4,
                                            "comment": "Tokens of all texts, as computed."
                                        },
                                        "truncated": {
                                            "type": "uint32",
                                            "id": 5,
                                            "comment": "Texts of which the last tokens were left out, since the model has no positions for them."
                                        },
                                        "modelDigest": {
                                            "type": "string",
                                            "id": 6,
                                            "comment": "Content of the model that made the vectors."
                                        }
                                    }
                                },
                                "EmbeddingService": {
                                    "methods": {
                                        "Embed": {
                                            "requestType": "EmbedRequest",
                                            "responseType": "EmbedResponse",
                                            "comment": "A vector per text: the same bits whatever else is asked for at the time. Deadline and cancellation as for a recall.\nMany texts come to more than the 4 MiB that gRPC's clients take by default: raise their limit."
                                        }
                                    },
                                    "comment": "Texts to vectors, by the encoders that the service is started with. Served where embedding.models names one."
                                }
                            }
                        }
                    }
                },
                "explain": {
                    "nested": {
                        "v1": {
                            "options": {
                                "go_package": "tessera.dev/go/explain/v1;explainv1",
                                "java_multiple_files": true,
                                "java_package": "dev.tessera.explain.v1"
                            },
                            "nested": {
                                "ExplainRequest": {
                                    "fields": {
                                        "request": {
                                            "type": "tessera.recall.v1.RecallRequest",
                                            "id": 1,
                                            "comment": "The recall in question, as it was asked."
                                        },
                                        "itemId": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "The item that is, or is not, in its answer."
                                        },
                                        "versions": {
                                            "type": "tessera.recall.v1.RecallVersions",
                                            "id": 3,
                                            "comment": "`versions` of that answer: it is replayed on them, with the prompt that the answer of\n`request.request_id` had, or refused where they are not at hand. Left out: on the newest, with\nthe history of this moment."
                                        }
                                    }
                                },
                                "Verdict": {
                                    "values": {
                                        "VERDICT_UNSPECIFIED": 0,
                                        "VERDICT_RETURNED": 1,
                                        "VERDICT_PRUNED": 2,
                                        "VERDICT_BEHIND_SID_CAP": 3,
                                        "VERDICT_BEHIND_RESULTS": 4,
                                        "VERDICT_NOT_ELIGIBLE": 5,
                                        "VERDICT_NOT_LIVE": 6,
                                        "VERDICT_NOT_IN_CATALOGUE": 7,
                                        "VERDICT_BEHIND_DIVERSITY_CAP": 8,
                                        "VERDICT_NO_VALUE": 9,
                                        "VERDICT_BELOW_FLOOR": 10,
                                        "VERDICT_BEHIND_RANKED": 11
                                    },
                                    "comments": {
                                        "VERDICT_RETURNED": "At `rank` of the answer.",
                                        "VERDICT_PRUNED": "Its path fell out of the beam in `step`, where it stood at `rank` with `score`; the last that\nwas kept in its stead had `cut_score`.",
                                        "VERDICT_BEHIND_SID_CAP": "Its path was found; others of its semantic ID took the places.",
                                        "VERDICT_BEHIND_RESULTS": "Its path was found; the items wanted were full before its turn.",
                                        "VERDICT_NOT_ELIGIBLE": "`clause` of the eligibility keeps it out.",
                                        "VERDICT_NOT_LIVE": "Paused or removed by change `not_live_since`.",
                                        "VERDICT_BEHIND_DIVERSITY_CAP": "Its path was found; as many items with its value of `attribute` as may be were before it.",
                                        "VERDICT_NO_VALUE": "The valuation excludes it: a term has no value for it (an absent attribute, a logarithm of 0 or less), `attribute`.",
                                        "VERDICT_BELOW_FLOOR": "Its value is below the floor of the valuation, `cut_score`.",
                                        "VERDICT_BEHIND_RANKED": "Of a recall with `rank`: it was recalled, and is at `rank` of the ranked items, behind those of the answer."
                                    }
                                },
                                "ExplainResponse": {
                                    "oneofs": {
                                        "_rank": {
                                            "oneof": [
                                                "rank"
                                            ]
                                        },
                                        "_step": {
                                            "oneof": [
                                                "step"
                                            ]
                                        },
                                        "_score": {
                                            "oneof": [
                                                "score"
                                            ]
                                        },
                                        "_cutScore": {
                                            "oneof": [
                                                "cutScore"
                                            ]
                                        },
                                        "_clause": {
                                            "oneof": [
                                                "clause"
                                            ]
                                        },
                                        "_notLiveSince": {
                                            "oneof": [
                                                "notLiveSince"
                                            ]
                                        },
                                        "_attribute": {
                                            "oneof": [
                                                "attribute"
                                            ]
                                        },
                                        "_exactRank": {
                                            "oneof": [
                                                "exactRank"
                                            ]
                                        },
                                        "_rankAtLeast": {
                                            "oneof": [
                                                "rankAtLeast"
                                            ]
                                        },
                                        "_value": {
                                            "oneof": [
                                                "value"
                                            ]
                                        },
                                        "_excludedItems": {
                                            "oneof": [
                                                "excludedItems"
                                            ]
                                        },
                                        "_ranking": {
                                            "oneof": [
                                                "ranking"
                                            ]
                                        },
                                        "_rankedItems": {
                                            "oneof": [
                                                "rankedItems"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "requestId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "itemId": {
                                            "type": "string",
                                            "id": 2
                                        },
                                        "sid": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 3,
                                            "comment": "Codes of the item's semantic ID; empty where the item is not in the catalogue."
                                        },
                                        "verdict": {
                                            "type": "Verdict",
                                            "id": 4
                                        },
                                        "rank": {
                                            "type": "uint32",
                                            "id": 5,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "1 for the best: of the item in the answer, or of its path among the candidates of the step."
                                        },
                                        "step": {
                                            "type": "uint32",
                                            "id": 6,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "0 for the selection of the first code."
                                        },
                                        "score": {
                                            "type": "double",
                                            "id": 7,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Log-probability of the path, or of what there was of it when it was pruned."
                                        },
                                        "cutScore": {
                                            "type": "double",
                                            "id": 8,
                                            "options": {
                                                "proto3_optional": true
                                            }
                                        },
                                        "clause": {
                                            "type": "string",
                                            "id": 9,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Path of a clause, such as `predicate.all[1].not`, or `allowed`, `denied`, `seen`, `flight`, or a cap such as\n`frequencyCaps[0]`, `recall.frequencyCaps[0]` where it is configured."
                                        },
                                        "notLiveSince": {
                                            "type": "uint64",
                                            "id": 10,
                                            "options": {
                                                "proto3_optional": true
                                            }
                                        },
                                        "widthsUsed": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 11,
                                            "comment": "Of the replay, as in RecallResponse; empty where the catalogue alone decides."
                                        },
                                        "historyItems": {
                                            "type": "uint32",
                                            "id": 12
                                        },
                                        "trimmedItems": {
                                            "type": "uint32",
                                            "id": 13
                                        },
                                        "skippedItems": {
                                            "type": "uint32",
                                            "id": 14
                                        },
                                        "promptTokens": {
                                            "type": "uint32",
                                            "id": 15
                                        },
                                        "prefixReusedTokens": {
                                            "type": "uint32",
                                            "id": 16
                                        },
                                        "versions": {
                                            "type": "tessera.recall.v1.RecallVersions",
                                            "id": 17
                                        },
                                        "timings": {
                                            "type": "tessera.recall.v1.RecallTimings",
                                            "id": 18
                                        },
                                        "attribute": {
                                            "type": "string",
                                            "id": 19,
                                            "options": {
                                                "proto3_optional": true
                                            }
                                        },
                                        "kv": {
                                            "type": "tessera.recall.v1.KvProvenance",
                                            "id": 20
                                        },
                                        "fallback": {
                                            "type": "string",
                                            "id": 21,
                                            "comment": "As in tessera.recall.v1.RecallResponse."
                                        },
                                        "exactRank": {
                                            "type": "uint32",
                                            "id": 22,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Of the item among all live items that the request may get, by score, whatever caps and widths (docs/integrate/explain.md): 1\nfor the best. Absent where the search for it ended before the rank was proved, and where the catalogue alone decides."
                                        },
                                        "rankAtLeast": {
                                            "type": "uint32",
                                            "id": 23,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "In its place: the rank is this one or a later one."
                                        },
                                        "value": {
                                            "type": "tessera.recall.v1.ItemValue",
                                            "id": 24,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Of a recall by value, where the item's score is known: `score` and `cut_score` are then bounds, the most that an item\nbelow the prefix could be worth."
                                        },
                                        "excludedItems": {
                                            "type": "uint32",
                                            "id": 25,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "The same: live and eligible items that the valuation excludes."
                                        },
                                        "ranking": {
                                            "type": "tessera.recall.v1.ItemRanking",
                                            "id": 26,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Of a recall with `rank`, where it has the item: what heads say of it, and its place in the recall. The verdict is that of\nthe ranking then."
                                        },
                                        "rankedItems": {
                                            "type": "uint32",
                                            "id": 27,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "The same: items that were ranked."
                                        }
                                    }
                                },
                                "ExplainService": {
                                    "methods": {
                                        "Explain": {
                                            "requestType": "ExplainRequest",
                                            "responseType": "ExplainResponse",
                                            "comment": "Replays the recall and follows the item. Costs what the recall costs; deadline and cancellation\nas for a recall."
                                        }
                                    },
                                    "comment": "Why an item is in the answer of a recall, or is not. Errors are those of RecallService."
                                }
                            }
                        }
                    }
                },
                "kv": {
                    "nested": {
                        "v1": {
                            "options": {
                                "go_package": "tessera.dev/go/kv/v1;kvv1",
                                "java_multiple_files": true,
                                "java_package": "dev.tessera.kv.v1"
                            },
                            "nested": {
                                "InspectRequest": {
                                    "fields": {
                                        "userId": {
                                            "type": "string",
                                            "id": 1
                                        }
                                    }
                                },
                                "Chain": {
                                    "fields": {
                                        "version": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Digest of model, arithmetic, template, codebook and layout."
                                        },
                                        "isRetired": {
                                            "type": "bool",
                                            "id": 2,
                                            "comment": "Nothing is found under the version any more."
                                        },
                                        "seq": {
                                            "type": "uint64",
                                            "id": 3,
                                            "comment": "Of its newest change."
                                        },
                                        "tokens": {
                                            "type": "uint32",
                                            "id": 4,
                                            "comment": "Without those of the static text that all users share."
                                        },
                                        "prefixTokens": {
                                            "type": "uint32",
                                            "id": 5
                                        },
                                        "deviceTokens": {
                                            "type": "uint32",
                                            "id": 6,
                                            "comment": "Of `tokens`, by tier; a token may be in several."
                                        },
                                        "hostTokens": {
                                            "type": "uint32",
                                            "id": 7
                                        },
                                        "diskTokens": {
                                            "type": "uint32",
                                            "id": 8
                                        },
                                        "durableTokens": {
                                            "type": "uint32",
                                            "id": 9,
                                            "comment": "Of `tokens`, what a restart would find."
                                        },
                                        "unusedUs": {
                                            "type": "double",
                                            "id": 10,
                                            "comment": "Microseconds since it was last looked up or changed."
                                        },
                                        "versionsBack": {
                                            "type": "uint32",
                                            "id": 11,
                                            "comment": "Versions of the adapter between the one that computed its front and this one."
                                        }
                                    },
                                    "comment": "The committed tokens of a user under one version of prompts."
                                },
                                "InspectResponse": {
                                    "fields": {
                                        "chains": {
                                            "rule": "repeated",
                                            "type": "Chain",
                                            "id": 1
                                        }
                                    }
                                },
                                "DropUserRequest": {
                                    "oneofs": {
                                        "_deadlineMs": {
                                            "oneof": [
                                                "deadlineMs"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "userId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "deadlineMs": {
                                            "type": "uint32",
                                            "id": 2,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Milliseconds to wait for the disk, beside the deadline of the call; the shorter one counts."
                                        },
                                        "withRecords": {
                                            "type": "bool",
                                            "id": 3,
                                            "comment": "Recorded recalls as well, and what analysts have put to them: for a process that erases the user."
                                        }
                                    }
                                },
                                "DropUserResponse": {
                                    "fields": {}
                                },
                                "DropVersionRequest": {
                                    "fields": {
                                        "version": {
                                            "type": "string",
                                            "id": 1
                                        }
                                    }
                                },
                                "DropVersionResponse": {
                                    "fields": {}
                                },
                                "CheckIntegrityRequest": {
                                    "fields": {}
                                },
                                "CheckIntegrityResponse": {
                                    "fields": {
                                        "chains": {
                                            "type": "uint64",
                                            "id": 1
                                        },
                                        "blocks": {
                                            "type": "uint64",
                                            "id": 2
                                        },
                                        "checkedDiskBlocks": {
                                            "type": "uint64",
                                            "id": 3
                                        },
                                        "corruptDiskBlocks": {
                                            "type": "uint64",
                                            "id": 4,
                                            "comment": "Given up: their bytes do not have their checksum."
                                        },
                                        "unreadableDiskBlocks": {
                                            "type": "uint64",
                                            "id": 5
                                        },
                                        "faults": {
                                            "rule": "repeated",
                                            "type": "string",
                                            "id": 6,
                                            "comment": "Of the pool's own accounts; empty unless there is a bug."
                                        }
                                    }
                                },
                                "AppendRequest": {
                                    "oneofs": {
                                        "_deadlineMs": {
                                            "oneof": [
                                                "deadlineMs"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "requestId": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "The caller's ID of this request, echoed; the service makes one when empty."
                                        },
                                        "userId": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "A user whose behaviour the service knows."
                                        },
                                        "profile": {
                                            "keyType": "string",
                                            "type": "string",
                                            "id": 3,
                                            "comment": "Profile of the user, for the slots of the prompt template."
                                        },
                                        "deadlineMs": {
                                            "type": "uint32",
                                            "id": 4,
                                            "options": {
                                                "proto3_optional": true
                                            }
                                        },
                                        "onlyHeld": {
                                            "type": "bool",
                                            "id": 5,
                                            "comment": "Of a user whom the pool does not hold nothing is computed, and the answer is empty; a node that\nonly appends (cluster.role) computes for all. Behind every other request."
                                        }
                                    }
                                },
                                "AppendResponse": {
                                    "fields": {
                                        "requestId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "historyItems": {
                                            "type": "uint32",
                                            "id": 2,
                                            "comment": "History items that are in the prompt."
                                        },
                                        "trimmedItems": {
                                            "type": "uint32",
                                            "id": 3
                                        },
                                        "skippedItems": {
                                            "type": "uint32",
                                            "id": 4
                                        },
                                        "keptTokens": {
                                            "type": "uint32",
                                            "id": 5,
                                            "comment": "Tokens of the prompt that the user's next one can begin with."
                                        },
                                        "kv": {
                                            "type": "tessera.recall.v1.KvProvenance",
                                            "id": 6
                                        }
                                    }
                                },
                                "KvPoolService": {
                                    "methods": {
                                        "Inspect": {
                                            "requestType": "InspectRequest",
                                            "responseType": "InspectResponse",
                                            "comment": "Chains of a user in the pool, one per version of prompts; none for an unknown user."
                                        },
                                        "DropUser": {
                                            "requestType": "DropUserRequest",
                                            "responseType": "DropUserResponse",
                                            "comment": "Forgets a user everywhere. Answers when nothing of them can be read from disk any more; what\nbegan before keeps nothing."
                                        },
                                        "DropVersion": {
                                            "requestType": "DropVersionRequest",
                                            "responseType": "DropVersionResponse",
                                            "comment": "Finds nothing under a version of prompts any more, until the service starts anew with it."
                                        },
                                        "CheckIntegrity": {
                                            "requestType": "CheckIntegrityRequest",
                                            "responseType": "CheckIntegrityResponse",
                                            "comment": "Compares the pool's accounts with a fresh count and reads every block on disk."
                                        },
                                        "Append": {
                                            "requestType": "AppendRequest",
                                            "responseType": "AppendResponse",
                                            "comment": "Computes what the pool has not of a user's history and keeps it, behind all who want answers."
                                        }
                                    },
                                    "comment": "Operations on the user KV pool (docs/internals/kv-pool.md). Errors are those of RecallService."
                                }
                            }
                        }
                    }
                },
                "ranking": {
                    "nested": {
                        "v1": {
                            "options": {
                                "go_package": "tessera.dev/go/ranking/v1;rankingv1",
                                "java_multiple_files": true,
                                "java_package": "dev.tessera.ranking.v1"
                            },
                            "nested": {
                                "RankRequest": {
                                    "oneofs": {
                                        "source": {
                                            "oneof": [
                                                "userId",
                                                "history"
                                            ]
                                        },
                                        "_deadlineMs": {
                                            "oneof": [
                                                "deadlineMs"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "requestId": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "The caller's ID of this request, echoed; the service makes one when empty."
                                        },
                                        "userId": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "A user whose behaviour the service knows."
                                        },
                                        "history": {
                                            "type": "tessera.recall.v1.History",
                                            "id": 3,
                                            "comment": "A behaviour given with the request."
                                        },
                                        "profile": {
                                            "keyType": "string",
                                            "type": "string",
                                            "id": 4,
                                            "comment": "Profile of the user, for the slots of the prompt template."
                                        },
                                        "scene": {
                                            "keyType": "string",
                                            "type": "string",
                                            "id": 5,
                                            "comment": "Where and when the items will be shown, for the slots of the prompt template."
                                        },
                                        "itemIds": {
                                            "rule": "repeated",
                                            "type": "string",
                                            "id": 6,
                                            "comment": "At least one, each once; eligible or not, whichever channel found them."
                                        },
                                        "rank": {
                                            "type": "tessera.recall.v1.Rank",
                                            "id": 7,
                                            "comment": "Heads and valuation; without `items`."
                                        },
                                        "priority": {
                                            "type": "tessera.recall.v1.Priority",
                                            "id": 8
                                        },
                                        "deadlineMs": {
                                            "type": "uint32",
                                            "id": 9,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Milliseconds the call may take, beside its deadline; the shorter one counts."
                                        },
                                        "catalogue": {
                                            "type": "string",
                                            "id": 10,
                                            "comment": "Name of the catalogue of the items; empty: the first."
                                        },
                                        "adapter": {
                                            "type": "string",
                                            "id": 11,
                                            "comment": "Adapter of the prompt, as for a recall."
                                        }
                                    }
                                },
                                "ItemFailure": {
                                    "fields": {
                                        "code": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Of docs/operate/errors.md: ITEM_NOT_FOUND."
                                        },
                                        "message": {
                                            "type": "string",
                                            "id": 2
                                        }
                                    },
                                    "comment": "Why an item has no rank."
                                },
                                "RankedItem": {
                                    "oneofs": {
                                        "_ranking": {
                                            "oneof": [
                                                "ranking"
                                            ]
                                        },
                                        "_score": {
                                            "oneof": [
                                                "score"
                                            ]
                                        },
                                        "_failure": {
                                            "oneof": [
                                                "failure"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "itemId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "rank": {
                                            "type": "uint32",
                                            "id": 2,
                                            "comment": "1 for the best item; 0 where it failed, or where the valuation leaves it out."
                                        },
                                        "ranking": {
                                            "type": "tessera.recall.v1.ItemRanking",
                                            "id": 3,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Absent where it failed."
                                        },
                                        "score": {
                                            "type": "double",
                                            "id": 4,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Log-probability of its semantic ID; present where the valuation weighs scores."
                                        },
                                        "failure": {
                                            "type": "ItemFailure",
                                            "id": 5,
                                            "options": {
                                                "proto3_optional": true
                                            }
                                        }
                                    }
                                },
                                "RankResponse": {
                                    "fields": {
                                        "requestId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "items": {
                                            "rule": "repeated",
                                            "type": "RankedItem",
                                            "id": 2,
                                            "comment": "Best first; behind them those without a rank, in the order of the request."
                                        },
                                        "ranking": {
                                            "type": "tessera.recall.v1.AppliedRanking",
                                            "id": 3
                                        },
                                        "historyItems": {
                                            "type": "uint32",
                                            "id": 4
                                        },
                                        "promptTokens": {
                                            "type": "uint32",
                                            "id": 5
                                        },
                                        "versions": {
                                            "type": "tessera.recall.v1.RecallVersions",
                                            "id": 6
                                        },
                                        "timings": {
                                            "type": "tessera.recall.v1.RecallTimings",
                                            "id": 7
                                        },
                                        "kv": {
                                            "type": "tessera.recall.v1.KvProvenance",
                                            "id": 8
                                        }
                                    }
                                },
                                "RankingService": {
                                    "methods": {
                                        "Rank": {
                                            "requestType": "RankRequest",
                                            "responseType": "RankResponse",
                                            "comment": "Ranks items that any channel has found. Deadline and cancellation as for a recall."
                                        }
                                    },
                                    "comment": "What heads say of given items for a user (docs/integrate/ranking.md). Failures are told as those of RecallService."
                                }
                            }
                        }
                    }
                },
                "relevance": {
                    "nested": {
                        "v1": {
                            "options": {
                                "go_package": "tessera.dev/go/relevance/v1;relevancev1",
                                "java_multiple_files": true,
                                "java_package": "dev.tessera.relevance.v1"
                            },
                            "nested": {
                                "Document": {
                                    "oneofs": {
                                        "content": {
                                            "oneof": [
                                                "text",
                                                "itemId"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "text": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "itemId": {
                                            "type": "string",
                                            "id": 2
                                        }
                                    },
                                    "comment": "A text, or an item of the catalogue, whose text is made of its title and attributes."
                                },
                                "TooLong": {
                                    "values": {
                                        "TOO_LONG_UNSPECIFIED": 0,
                                        "TOO_LONG_CUT": 1,
                                        "TOO_LONG_REFUSE": 2
                                    },
                                    "comment": "Treatment of a document that is too long for the model beside the query.",
                                    "comments": {
                                        "TOO_LONG_UNSPECIFIED": "Cut.",
                                        "TOO_LONG_CUT": "Its last tokens are left out.",
                                        "TOO_LONG_REFUSE": "It has no score."
                                    }
                                },
                                "Failures": {
                                    "values": {
                                        "FAILURES_UNSPECIFIED": 0,
                                        "FAILURES_EACH": 1,
                                        "FAILURES_WHOLE": 2
                                    },
                                    "comment": "Outcome of a call with a document without a score: too long, unknown, or not scored in time.",
                                    "comments": {
                                        "FAILURES_UNSPECIFIED": "Each.",
                                        "FAILURES_EACH": "Each document answers for itself: by its score, or by why it has none.",
                                        "FAILURES_WHOLE": "The call fails as the first such document did."
                                    }
                                },
                                "RelevanceServiceScoreRequest": {
                                    "oneofs": {
                                        "_deadlineMs": {
                                            "oneof": [
                                                "deadlineMs"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "requestId": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "The caller's ID of this request, echoed; the service makes one when empty."
                                        },
                                        "query": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "Not empty."
                                        },
                                        "documents": {
                                            "rule": "repeated",
                                            "type": "Document",
                                            "id": 3,
                                            "comment": "At least one; answered one by one, in this order."
                                        },
                                        "instruction": {
                                            "type": "string",
                                            "id": 4,
                                            "comment": "Instruction for the model; empty: as its template says."
                                        },
                                        "tooLong": {
                                            "type": "TooLong",
                                            "id": 5
                                        },
                                        "failures": {
                                            "type": "Failures",
                                            "id": 6
                                        },
                                        "priority": {
                                            "type": "tessera.recall.v1.Priority",
                                            "id": 7
                                        },
                                        "deadlineMs": {
                                            "type": "uint32",
                                            "id": 8,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Milliseconds the scores may take, beside the deadline of the call; the shorter one counts."
                                        },
                                        "catalogue": {
                                            "type": "string",
                                            "id": 9,
                                            "comment": "Name of the catalogue of the items; empty: the first."
                                        },
                                        "adapter": {
                                            "type": "string",
                                            "id": 10,
                                            "comment": "Name of an adapter to score with (`relevance.adapters`); `base` or empty: the model alone."
                                        }
                                    }
                                },
                                "DocumentFailure": {
                                    "fields": {
                                        "code": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Of docs/operate/errors.md."
                                        },
                                        "message": {
                                            "type": "string",
                                            "id": 2
                                        }
                                    },
                                    "comment": "Why a document has no score."
                                },
                                "DocumentScore": {
                                    "oneofs": {
                                        "_score": {
                                            "oneof": [
                                                "score"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "score": {
                                            "type": "double",
                                            "id": 1,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Absent where it failed. By the template: a probability, an expectation or log-odds."
                                        },
                                        "promptTokens": {
                                            "type": "uint32",
                                            "id": 2,
                                            "comment": "Tokens of the prompt that the document is in."
                                        },
                                        "cutTokens": {
                                            "type": "uint32",
                                            "id": 3,
                                            "comment": "Tokens at its end that were left out."
                                        },
                                        "failure": {
                                            "type": "DocumentFailure",
                                            "id": 4,
                                            "comment": "Absent where it has a score."
                                        }
                                    }
                                },
                                "RelevanceVersions": {
                                    "fields": {
                                        "model": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Digest of the weights that scored."
                                        },
                                        "template": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "Name of the template."
                                        },
                                        "adapter": {
                                            "type": "string",
                                            "id": 3,
                                            "comment": "Digest of the adapter; empty: the model alone."
                                        }
                                    }
                                },
                                "RelevanceServiceScoreResponse": {
                                    "fields": {
                                        "requestId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "documents": {
                                            "rule": "repeated",
                                            "type": "DocumentScore",
                                            "id": 2,
                                            "comment": "One for each document, in the same order."
                                        },
                                        "promptTokens": {
                                            "type": "uint32",
                                            "id": 3,
                                            "comment": "Tokens of the prompts of all documents that have a score, each counted whole."
                                        },
                                        "computedTokens": {
                                            "type": "uint32",
                                            "id": 4,
                                            "comment": "Tokens computed for them: what prompts have in common is computed once."
                                        },
                                        "versions": {
                                            "type": "RelevanceVersions",
                                            "id": 5
                                        }
                                    }
                                },
                                "RelevanceService": {
                                    "methods": {
                                        "Score": {
                                            "requestType": "RelevanceServiceScoreRequest",
                                            "responseType": "RelevanceServiceScoreResponse",
                                            "comment": "Scores each document. Deadline and cancellation as for a recall."
                                        }
                                    },
                                    "comment": "How well texts fit a query, by the language model of `relevance.path`. Failures are told as those of RecallService;\nMODEL_NOT_FOUND where the service has no such model."
                                }
                            }
                        }
                    }
                },
                "score": {
                    "nested": {
                        "v1": {
                            "options": {
                                "go_package": "tessera.dev/go/score/v1;scorev1",
                                "java_multiple_files": true,
                                "java_package": "dev.tessera.score.v1"
                            },
                            "nested": {
                                "SemanticId": {
                                    "fields": {
                                        "codes": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 1
                                        }
                                    },
                                    "comment": "Codes of a semantic ID, one per level."
                                },
                                "ScoreTarget": {
                                    "oneofs": {
                                        "target": {
                                            "oneof": [
                                                "itemId",
                                                "sid"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "itemId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "sid": {
                                            "type": "SemanticId",
                                            "id": 2
                                        }
                                    },
                                    "comment": "Target of a score: an item of the catalogue, or the semantic ID of one."
                                },
                                "ScoreRequest": {
                                    "oneofs": {
                                        "source": {
                                            "oneof": [
                                                "userId",
                                                "history"
                                            ]
                                        },
                                        "_deadlineMs": {
                                            "oneof": [
                                                "deadlineMs"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "requestId": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "The caller's ID of this request, echoed; the service makes one when empty."
                                        },
                                        "userId": {
                                            "type": "string",
                                            "id": 2,
                                            "comment": "A user whose behaviour the service knows."
                                        },
                                        "history": {
                                            "type": "tessera.recall.v1.History",
                                            "id": 3,
                                            "comment": "A behaviour given with the request."
                                        },
                                        "profile": {
                                            "keyType": "string",
                                            "type": "string",
                                            "id": 4,
                                            "comment": "Profile of the user, for the slots of the prompt template."
                                        },
                                        "scene": {
                                            "keyType": "string",
                                            "type": "string",
                                            "id": 5,
                                            "comment": "Where and when the items will be shown, for the slots of the prompt template."
                                        },
                                        "items": {
                                            "rule": "repeated",
                                            "type": "ScoreTarget",
                                            "id": 6,
                                            "comment": "At least one; answered one by one, in this order."
                                        },
                                        "scoreNorm": {
                                            "type": "tessera.recall.v1.ScoreNorm",
                                            "id": 7
                                        },
                                        "deadlineMs": {
                                            "type": "uint32",
                                            "id": 8,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Milliseconds the scores may take, beside the deadline of the call; the shorter one counts."
                                        },
                                        "skipUnknownItems": {
                                            "type": "bool",
                                            "id": 9,
                                            "options": {
                                                "deprecated": true
                                            },
                                            "comment": "Without effect: history items that the catalogue does not know are left out and counted."
                                        },
                                        "priority": {
                                            "type": "tessera.recall.v1.Priority",
                                            "id": 10
                                        },
                                        "refuseUnknownItems": {
                                            "type": "bool",
                                            "id": 11,
                                            "comment": "Refuse history items that the catalogue does not know with ITEM_NOT_FOUND, instead of leaving them out."
                                        },
                                        "requireHistory": {
                                            "type": "bool",
                                            "id": 12,
                                            "comment": "Refuse a user without behaviours in the catalogue (USER_NOT_FOUND, REQUEST_INVALID), instead of answering\nfrom profile and scene (fallback `no-history`, recall.withoutHistory)."
                                        },
                                        "catalogue": {
                                            "type": "string",
                                            "id": 20,
                                            "comment": "Name of the catalogue of the items; empty: the first."
                                        },
                                        "adapter": {
                                            "type": "string",
                                            "id": 21,
                                            "comment": "As in RecallRequest."
                                        },
                                        "valuation": {
                                            "type": "tessera.recall.v1.Valuation",
                                            "id": 22,
                                            "comment": "Values of the items as well; semantic IDs have none."
                                        }
                                    }
                                },
                                "ScoreOutcome": {
                                    "values": {
                                        "SCORE_OUTCOME_UNSPECIFIED": 0,
                                        "SCORE_OUTCOME_SCORED": 1,
                                        "SCORE_OUTCOME_UNKNOWN": 2
                                    },
                                    "comments": {
                                        "SCORE_OUTCOME_UNKNOWN": "The catalogue has no such item, or no item with this semantic ID."
                                    }
                                },
                                "ItemScore": {
                                    "oneofs": {
                                        "_score": {
                                            "oneof": [
                                                "score"
                                            ]
                                        },
                                        "_value": {
                                            "oneof": [
                                                "value"
                                            ]
                                        }
                                    },
                                    "fields": {
                                        "itemId": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "As asked; empty where a semantic ID was asked for."
                                        },
                                        "sid": {
                                            "rule": "repeated",
                                            "type": "uint32",
                                            "id": 2,
                                            "comment": "Codes of the semantic ID; empty where the item is not known."
                                        },
                                        "outcome": {
                                            "type": "ScoreOutcome",
                                            "id": 3
                                        },
                                        "score": {
                                            "type": "double",
                                            "id": 4,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Log-probability of the semantic ID; absent where the outcome is not SCORED."
                                        },
                                        "value": {
                                            "type": "tessera.recall.v1.ItemValue",
                                            "id": 5,
                                            "options": {
                                                "proto3_optional": true
                                            },
                                            "comment": "Of an item, where the request has a valuation that does not exclude it."
                                        }
                                    }
                                },
                                "ScoreResponse": {
                                    "fields": {
                                        "requestId": {
                                            "type": "string",
                                            "id": 1
                                        },
                                        "items": {
                                            "rule": "repeated",
                                            "type": "ItemScore",
                                            "id": 2,
                                            "comment": "One for each item asked for, in the same order."
                                        },
                                        "historyItems": {
                                            "type": "uint32",
                                            "id": 3,
                                            "comment": "History items that are in the prompt."
                                        },
                                        "trimmedItems": {
                                            "type": "uint32",
                                            "id": 4,
                                            "comment": "Oldest history items left out because the prompt would not fit."
                                        },
                                        "skippedItems": {
                                            "type": "uint32",
                                            "id": 5,
                                            "comment": "History items left out because the catalogue does not know them."
                                        },
                                        "promptTokens": {
                                            "type": "uint32",
                                            "id": 6
                                        },
                                        "prefixReusedTokens": {
                                            "type": "uint32",
                                            "id": 7,
                                            "comment": "Of the prompt's tokens, those that another request of the same batch computed."
                                        },
                                        "versions": {
                                            "type": "tessera.recall.v1.RecallVersions",
                                            "id": 8
                                        },
                                        "timings": {
                                            "type": "tessera.recall.v1.RecallTimings",
                                            "id": 9
                                        },
                                        "kv": {
                                            "type": "tessera.recall.v1.KvProvenance",
                                            "id": 10
                                        },
                                        "fallback": {
                                            "type": "string",
                                            "id": 11,
                                            "comment": "As in tessera.recall.v1.RecallResponse."
                                        }
                                    }
                                },
                                "ScoreService": {
                                    "methods": {
                                        "Score": {
                                            "requestType": "ScoreRequest",
                                            "responseType": "ScoreResponse",
                                            "comment": "Answers with the log-probabilities of the items' semantic IDs, in the order asked: exactly the\nscores that a recall gives them. Deadline and cancellation as for a recall."
                                        }
                                    },
                                    "comment": "How well given items fit this user now. Errors are those of RecallService."
                                }
                            }
                        }
                    }
                },
                "weights": {
                    "nested": {
                        "v1": {
                            "options": {
                                "go_package": "tessera.dev/go/weights/v1;weightsv1",
                                "java_multiple_files": true,
                                "java_package": "dev.tessera.weights.v1"
                            },
                            "nested": {
                                "UpdateRequest": {
                                    "fields": {
                                        "name": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Of a set of weights: a folder in `weights.path`, as Hugging Face saves a model. 1 to 64 of a-z, 0-9,\n'.', '_' and '-', a letter or digit first."
                                        }
                                    }
                                },
                                "UpdateResponse": {
                                    "fields": {
                                        "digest": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Of the weights that serve from now on (`versions.model` of an answer)."
                                        },
                                        "drainedUs": {
                                            "type": "uint64",
                                            "id": 2,
                                            "comment": "Microseconds without admission while running requests ended."
                                        },
                                        "swappedUs": {
                                            "type": "uint64",
                                            "id": 3,
                                            "comment": "Microseconds without any running request."
                                        }
                                    }
                                },
                                "RollbackRequest": {
                                    "fields": {}
                                },
                                "RollbackResponse": {
                                    "fields": {
                                        "name": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Name of the set that serves now; empty: the weights that the process was configured with."
                                        },
                                        "digest": {
                                            "type": "string",
                                            "id": 2
                                        },
                                        "drainedUs": {
                                            "type": "uint64",
                                            "id": 3
                                        },
                                        "swappedUs": {
                                            "type": "uint64",
                                            "id": 4
                                        }
                                    }
                                },
                                "GetRequest": {
                                    "fields": {}
                                },
                                "GetResponse": {
                                    "fields": {
                                        "name": {
                                            "type": "string",
                                            "id": 1,
                                            "comment": "Empty: the weights that the process was configured with."
                                        },
                                        "digest": {
                                            "type": "string",
                                            "id": 2
                                        },
                                        "previous": {
                                            "type": "string",
                                            "id": 3,
                                            "comment": "Target of a rollback."
                                        }
                                    }
                                },
                                "WeightsService": {
                                    "methods": {
                                        "Update": {
                                            "requestType": "UpdateRequest",
                                            "responseType": "UpdateResponse",
                                            "comment": "Requests that run end first; the engine admits no request meanwhile, for one second at most."
                                        },
                                        "Rollback": {
                                            "requestType": "RollbackRequest",
                                            "responseType": "RollbackResponse",
                                            "comment": "To the set before; a second time, to the one that was left."
                                        },
                                        "Get": {
                                            "requestType": "GetRequest",
                                            "responseType": "GetResponse"
                                        }
                                    },
                                    "comment": "Whole weights of small models, put in the place of those that serve: between two batches, in the same\nmemory, layer by layer (docs/integrate/adapters.md). Failures carry the status of docs/operate/errors.md, and the old\nweights serve on. Metadata `authorization: Bearer TOKEN` where access is checked: Get needs the scope\n`read`, others `activate`."
                                }
                            }
                        }
                    }
                }
            }
        }
    }
};
/** Words of the enumerations, in JSON and in the domain, with their numbers on the wire. */ export const enumWords = {
    "tessera.adapter.v1.State": {
        "received": 1,
        "validated": 2,
        "canary": 3,
        "active": 4,
        "retired": 5,
        "rejected": 6
    },
    "tessera.behaviour.v1.AppendOutcome": {
        "added": 1,
        "duplicate": 2,
        "outside": 3
    },
    "tessera.recall.v1.ScoreNorm": {
        "full": 1,
        "level": 2,
        "allowed": 3
    },
    "tessera.recall.v1.Priority": {
        "high": 1,
        "normal": 2,
        "low": 3
    },
    "tessera.recall.v1.Search": {
        "certified": 1,
        "beam": 2
    },
    "tessera.recall.v1.Completeness": {
        "whole": 1,
        "narrowed": 2,
        "cut": 3
    },
    "tessera.embedding.v1.NumberType": {
        "f32": 1,
        "f16": 2
    },
    "tessera.explain.v1.Verdict": {
        "returned": 1,
        "pruned": 2,
        "behind-sid-cap": 3,
        "behind-results": 4,
        "not-eligible": 5,
        "not-live": 6,
        "not-in-catalogue": 7,
        "behind-diversity-cap": 8,
        "no-value": 9,
        "below-floor": 10,
        "behind-ranked": 11
    },
    "tessera.relevance.v1.TooLong": {
        "cut": 1,
        "refuse": 2
    },
    "tessera.relevance.v1.Failures": {
        "each": 1,
        "whole": 2
    },
    "tessera.score.v1.ScoreOutcome": {
        "scored": 1,
        "unknown": 2
    }
};

//# sourceMappingURL=proto-schema.js.map