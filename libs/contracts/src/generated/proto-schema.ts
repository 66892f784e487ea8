// Generated from proto/ by tools/generate.mjs. Do not edit.

/** Every message and service as protobufjs writes a schema in JSON; fields in camel case. */
export const protoSchema: object = {
  "nested": {
    "tessera": {
      "nested": {
        "adapter": {
          "nested": {
            "events": {
              "nested": {
                "v1": {
                  "nested": {
                    "AdapterAnnounced": {
                      "fields": {
                        "name": {
                          "type": "string",
                          "id": 1
                        },
                        "baseModel": {
                          "type": "string",
                          "id": 2
                        },
                        "location": {
                          "type": "string",
                          "id": 3
                        },
                        "share": {
                          "type": "double",
                          "id": 4
                        },
                        "sha256": {
                          "keyType": "string",
                          "type": "string",
                          "id": 5
                        }
                      }
                    },
                    "AdapterEvent": {
                      "fields": {
                        "timeMs": {
                          "type": "int64",
                          "id": 1
                        },
                        "action": {
                          "type": "string",
                          "id": 2
                        },
                        "actor": {
                          "type": "string",
                          "id": 3
                        },
                        "name": {
                          "type": "string",
                          "id": 4
                        },
                        "digest": {
                          "type": "string",
                          "id": 5
                        },
                        "outcome": {
                          "type": "string",
                          "id": 6
                        },
                        "detail": {
                          "type": "string",
                          "id": 7
                        }
                      }
                    }
                  }
                }
              }
            },
            "v1": {
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
                      "id": 3
                    }
                  }
                },
                "PushHeader": {
                  "fields": {
                    "name": {
                      "type": "string",
                      "id": 1
                    },
                    "baseModel": {
                      "type": "string",
                      "id": 2
                    },
                    "files": {
                      "rule": "repeated",
                      "type": "PushedFile",
                      "id": 3
                    },
                    "remark": {
                      "type": "string",
                      "id": 4
                    }
                  }
                },
                "PushChunk": {
                  "fields": {
                    "data": {
                      "type": "bytes",
                      "id": 1
                    }
                  }
                },
                "PushEnd": {
                  "fields": {}
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
                      "id": 1
                    },
                    "chunk": {
                      "type": "PushChunk",
                      "id": 2
                    },
                    "end": {
                      "type": "PushEnd",
                      "id": 3
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
                      "id": 2
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
                      "id": 2
                    },
                    "state": {
                      "type": "State",
                      "id": 3
                    },
                    "reason": {
                      "type": "string",
                      "id": 4
                    },
                    "baseModel": {
                      "type": "string",
                      "id": 5
                    },
                    "fileBytes": {
                      "type": "uint64",
                      "id": 6
                    },
                    "receivedMs": {
                      "type": "int64",
                      "id": 7
                    },
                    "changedMs": {
                      "type": "int64",
                      "id": 8
                    },
                    "pinned": {
                      "type": "bool",
                      "id": 9
                    },
                    "share": {
                      "type": "double",
                      "id": 10
                    },
                    "loaded": {
                      "type": "bool",
                      "id": 11
                    },
                    "arenaBytes": {
                      "type": "uint64",
                      "id": 12
                    },
                    "predecessor": {
                      "type": "bool",
                      "id": 13
                    },
                    "remark": {
                      "type": "string",
                      "id": 14
                    },
                    "rankMax": {
                      "type": "uint32",
                      "id": 15
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
                  }
                },
                "ListRequest": {
                  "fields": {
                    "name": {
                      "type": "string",
                      "id": 1
                    }
                  }
                },
                "ListResponse": {
                  "fields": {
                    "versions": {
                      "rule": "repeated",
                      "type": "Version",
                      "id": 1
                    },
                    "defaultName": {
                      "type": "string",
                      "id": 2
                    },
                    "arenaUsedBytes": {
                      "type": "uint64",
                      "id": 3
                    },
                    "arenaMaxBytes": {
                      "type": "uint64",
                      "id": 4
                    },
                    "diskUsedBytes": {
                      "type": "uint64",
                      "id": 5
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
                      "id": 2
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
                      "id": 2
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
                      "id": 7
                    },
                    "clickScore": {
                      "type": "double",
                      "id": 8
                    }
                  }
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
                      "id": 3
                    },
                    "overlap": {
                      "type": "double",
                      "id": 4
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
                      }
                    },
                    "force": {
                      "type": "bool",
                      "id": 4
                    },
                    "cold": {
                      "type": "bool",
                      "id": 5
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
                      "id": 2
                    },
                    "goldenOverlap": {
                      "type": "double",
                      "id": 3,
                      "options": {
                        "proto3_optional": true
                      }
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
                      "id": 1
                    },
                    "replaced": {
                      "type": "Version",
                      "id": 2
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
                      "responseType": "PushResponse"
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
                      "responseType": "ActivateResponse"
                    },
                    "Rollback": {
                      "requestType": "RollbackRequest",
                      "responseType": "RollbackResponse"
                    },
                    "Pin": {
                      "requestType": "PinRequest",
                      "responseType": "PinResponse"
                    },
                    "Unpin": {
                      "requestType": "UnpinRequest",
                      "responseType": "UnpinResponse"
                    },
                    "Delete": {
                      "requestType": "DeleteRequest",
                      "responseType": "DeleteResponse"
                    }
                  }
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
              "nested": {
                "Behaviour": {
                  "fields": {
                    "userId": {
                      "type": "string",
                      "id": 1
                    },
                    "eventId": {
                      "type": "string",
                      "id": 2
                    },
                    "itemId": {
                      "type": "string",
                      "id": 3
                    },
                    "action": {
                      "type": "string",
                      "id": 4
                    },
                    "timeMs": {
                      "type": "int64",
                      "id": 5
                    },
                    "scene": {
                      "keyType": "string",
                      "type": "string",
                      "id": 6
                    }
                  }
                },
                "AppendOutcome": {
                  "values": {
                    "APPEND_OUTCOME_UNSPECIFIED": 0,
                    "APPEND_OUTCOME_ADDED": 1,
                    "APPEND_OUTCOME_DUPLICATE": 2,
                    "APPEND_OUTCOME_OUTSIDE": 3
                  }
                },
                "AppendRequest": {
                  "fields": {
                    "behaviours": {
                      "rule": "repeated",
                      "type": "Behaviour",
                      "id": 1
                    }
                  }
                },
                "AppendResponse": {
                  "fields": {
                    "outcomes": {
                      "rule": "repeated",
                      "type": "AppendOutcome",
                      "id": 1
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
                      }
                    }
                  }
                },
                "HistoryResponse": {
                  "fields": {
                    "behaviours": {
                      "rule": "repeated",
                      "type": "Behaviour",
                      "id": 1
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
                      "id": 2
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
                      "id": 1
                    }
                  }
                },
                "BehaviourService": {
                  "methods": {
                    "Append": {
                      "requestType": "AppendRequest",
                      "responseType": "AppendResponse"
                    },
                    "History": {
                      "requestType": "HistoryRequest",
                      "responseType": "HistoryResponse"
                    },
                    "PutProfile": {
                      "requestType": "PutProfileRequest",
                      "responseType": "PutProfileResponse"
                    },
                    "Erase": {
                      "requestType": "EraseRequest",
                      "responseType": "EraseResponse"
                    }
                  }
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
                  "nested": {
                    "CatalogueChanged": {
                      "fields": {
                        "changes": {
                          "rule": "repeated",
                          "type": "tessera.catalogue.v1.Change",
                          "id": 1
                        },
                        "catalogue": {
                          "type": "string",
                          "id": 2
                        }
                      }
                    }
                  }
                }
              }
            },
            "v1": {
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
                    }
                  }
                },
                "SetAttributes": {
                  "fields": {
                    "itemId": {
                      "type": "string",
                      "id": 1
                    },
                    "attributes": {
                      "type": "string",
                      "id": 2
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
                "Change": {
                  "oneofs": {
                    "change": {
                      "oneof": [
                        "upsert",
                        "pauseItemId",
                        "resumeItemId",
                        "removeItemId",
                        "setAttributes",
                        "setPriority"
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
                      "id": 2
                    },
                    "resumeItemId": {
                      "type": "string",
                      "id": 3
                    },
                    "removeItemId": {
                      "type": "string",
                      "id": 4
                    },
                    "setAttributes": {
                      "type": "SetAttributes",
                      "id": 5
                    },
                    "setPriority": {
                      "type": "SetPriority",
                      "id": 6
                    }
                  }
                },
                "BundleStep": {
                  "fields": {
                    "follows": {
                      "type": "string",
                      "id": 1
                    },
                    "becomes": {
                      "type": "string",
                      "id": 2
                    }
                  }
                },
                "ApplyRequest": {
                  "fields": {
                    "changes": {
                      "rule": "repeated",
                      "type": "Change",
                      "id": 1
                    },
                    "bundle": {
                      "type": "BundleStep",
                      "id": 2
                    },
                    "catalogue": {
                      "type": "string",
                      "id": 15
                    }
                  }
                },
                "ApplyResponse": {
                  "fields": {
                    "sequence": {
                      "type": "uint64",
                      "id": 1
                    }
                  }
                },
                "ApplyStreamRequest": {
                  "fields": {
                    "changes": {
                      "rule": "repeated",
                      "type": "Change",
                      "id": 1
                    },
                    "catalogue": {
                      "type": "string",
                      "id": 15
                    }
                  }
                },
                "ApplyStreamResponse": {
                  "fields": {
                    "sequence": {
                      "type": "uint64",
                      "id": 1
                    }
                  }
                },
                "ApplyBatchRequest": {
                  "fields": {
                    "changes": {
                      "rule": "repeated",
                      "type": "Change",
                      "id": 1
                    },
                    "bundle": {
                      "type": "BundleStep",
                      "id": 2
                    },
                    "last": {
                      "type": "bool",
                      "id": 3
                    },
                    "catalogue": {
                      "type": "string",
                      "id": 15
                    }
                  }
                },
                "ApplyBatchResponse": {
                  "fields": {
                    "sequence": {
                      "type": "uint64",
                      "id": 1
                    }
                  }
                },
                "GetStateRequest": {
                  "fields": {
                    "catalogue": {
                      "type": "string",
                      "id": 15
                    }
                  }
                },
                "GetStateResponse": {
                  "fields": {
                    "sequence": {
                      "type": "uint64",
                      "id": 1
                    },
                    "base": {
                      "type": "string",
                      "id": 2
                    },
                    "liveItemCount": {
                      "type": "uint64",
                      "id": 3
                    },
                    "changedItemCount": {
                      "type": "uint64",
                      "id": 4
                    },
                    "replayedChanges": {
                      "type": "uint64",
                      "id": 5
                    },
                    "cutBytes": {
                      "type": "uint64",
                      "id": 6
                    },
                    "bundleUuid": {
                      "type": "string",
                      "id": 7
                    },
                    "levelSizes": {
                      "rule": "repeated",
                      "type": "uint32",
                      "id": 8
                    }
                  }
                },
                "ListItemsRequest": {
                  "fields": {
                    "catalogue": {
                      "type": "string",
                      "id": 15
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
                      "id": 6
                    }
                  }
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
                  }
                },
                "ListVersionsRequest": {
                  "fields": {
                    "catalogue": {
                      "type": "string",
                      "id": 15
                    }
                  }
                },
                "Generation": {
                  "fields": {
                    "firstSequence": {
                      "type": "uint64",
                      "id": 1
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
                  }
                },
                "ListVersionsResponse": {
                  "fields": {
                    "generations": {
                      "rule": "repeated",
                      "type": "Generation",
                      "id": 1
                    }
                  }
                },
                "CompactRequest": {
                  "fields": {
                    "catalogue": {
                      "type": "string",
                      "id": 15
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
                      "id": 1
                    },
                    "catalogue": {
                      "type": "string",
                      "id": 15
                    }
                  }
                },
                "RollBackResponse": {
                  "fields": {
                    "sequence": {
                      "type": "uint64",
                      "id": 1
                    }
                  }
                },
                "CatalogueService": {
                  "methods": {
                    "Apply": {
                      "requestType": "ApplyRequest",
                      "responseType": "ApplyResponse"
                    },
                    "ApplyStream": {
                      "requestType": "ApplyStreamRequest",
                      "requestStream": true,
                      "responseType": "ApplyStreamResponse",
                      "responseStream": true
                    },
                    "ApplyBatch": {
                      "requestType": "ApplyBatchRequest",
                      "requestStream": true,
                      "responseType": "ApplyBatchResponse"
                    },
                    "GetState": {
                      "requestType": "GetStateRequest",
                      "responseType": "GetStateResponse"
                    },
                    "ListItems": {
                      "requestType": "ListItemsRequest",
                      "responseType": "ListItemsResponse",
                      "responseStream": true
                    },
                    "ListVersions": {
                      "requestType": "ListVersionsRequest",
                      "responseType": "ListVersionsResponse"
                    },
                    "Compact": {
                      "requestType": "CompactRequest",
                      "responseType": "CompactResponse"
                    },
                    "RollBack": {
                      "requestType": "RollBackRequest",
                      "responseType": "RollBackResponse"
                    }
                  }
                }
              }
            }
          }
        },
        "explain": {
          "nested": {
            "v1": {
              "nested": {
                "ExplainRequest": {
                  "fields": {
                    "request": {
                      "type": "tessera.recall.v1.RecallRequest",
                      "id": 1
                    },
                    "itemId": {
                      "type": "string",
                      "id": 2
                    },
                    "versions": {
                      "type": "tessera.recall.v1.RecallVersions",
                      "id": 3
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
                    "VERDICT_BEHIND_DIVERSITY_CAP": 8
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
                      "id": 3
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
                      }
                    },
                    "step": {
                      "type": "uint32",
                      "id": 6,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "score": {
                      "type": "double",
                      "id": 7,
                      "options": {
                        "proto3_optional": true
                      }
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
                      }
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
                      "id": 11
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
                      "id": 21
                    }
                  }
                },
                "ExplainService": {
                  "methods": {
                    "Explain": {
                      "requestType": "ExplainRequest",
                      "responseType": "ExplainResponse"
                    }
                  }
                }
              }
            }
          }
        },
        "recall": {
          "nested": {
            "v1": {
              "nested": {
                "ScoreNorm": {
                  "values": {
                    "SCORE_NORM_UNSPECIFIED": 0,
                    "SCORE_NORM_FULL": 1,
                    "SCORE_NORM_LEVEL": 2,
                    "SCORE_NORM_ALLOWED": 3
                  }
                },
                "Priority": {
                  "values": {
                    "PRIORITY_UNSPECIFIED": 0,
                    "PRIORITY_HIGH": 1,
                    "PRIORITY_NORMAL": 2,
                    "PRIORITY_LOW": 3
                  }
                },
                "History": {
                  "fields": {
                    "itemIds": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 1
                    }
                  }
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
                  }
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
                  }
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
                      "id": 4
                    },
                    "contains": {
                      "type": "TextClause",
                      "id": 5
                    },
                    "range": {
                      "type": "RangeClause",
                      "id": 6
                    }
                  }
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
                      "id": 2
                    },
                    "denied": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 3
                    },
                    "seen": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 4
                    }
                  }
                },
                "DiversityCap": {
                  "fields": {
                    "attribute": {
                      "type": "string",
                      "id": 1
                    },
                    "maxItems": {
                      "type": "uint32",
                      "id": 2
                    }
                  }
                },
                "ItemPolicy": {
                  "fields": {
                    "orderBy": {
                      "type": "string",
                      "id": 1
                    },
                    "diversity": {
                      "rule": "repeated",
                      "type": "DiversityCap",
                      "id": 2
                    }
                  }
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
                    }
                  },
                  "fields": {
                    "requestId": {
                      "type": "string",
                      "id": 1
                    },
                    "userId": {
                      "type": "string",
                      "id": 2
                    },
                    "history": {
                      "type": "History",
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
                      "id": 6,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "widths": {
                      "rule": "repeated",
                      "type": "uint32",
                      "id": 7
                    },
                    "itemsPerSid": {
                      "type": "uint32",
                      "id": 8,
                      "options": {
                        "proto3_optional": true
                      }
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
                      }
                    },
                    "skipUnknownItems": {
                      "type": "bool",
                      "id": 11
                    },
                    "priority": {
                      "type": "Priority",
                      "id": 12
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
                      "id": 22
                    },
                    "catalogue": {
                      "type": "string",
                      "id": 23
                    },
                    "adapter": {
                      "type": "string",
                      "id": 24
                    },
                    "inspect": {
                      "type": "bool",
                      "id": 30
                    }
                  }
                },
                "RecalledItem": {
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
                    "score": {
                      "type": "double",
                      "id": 3
                    },
                    "rank": {
                      "type": "uint32",
                      "id": 4
                    },
                    "title": {
                      "type": "string",
                      "id": 5
                    }
                  }
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
                      "id": 10
                    },
                    "projectionsUs": {
                      "type": "double",
                      "id": 11
                    },
                    "attentionUs": {
                      "type": "double",
                      "id": 12
                    },
                    "forkUs": {
                      "type": "double",
                      "id": 13
                    }
                  }
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
                      "id": 4
                    },
                    "adapter": {
                      "type": "string",
                      "id": 5
                    },
                    "adapterName": {
                      "type": "string",
                      "id": 6
                    }
                  }
                },
                "Completeness": {
                  "values": {
                    "COMPLETENESS_UNSPECIFIED": 0,
                    "COMPLETENESS_WHOLE": 1,
                    "COMPLETENESS_NARROWED": 2,
                    "COMPLETENESS_CUT": 3
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
                      "id": 5
                    }
                  }
                },
                "KvProvenance": {
                  "fields": {
                    "deviceTokens": {
                      "type": "uint32",
                      "id": 1
                    },
                    "hostTokens": {
                      "type": "uint32",
                      "id": 2
                    },
                    "diskTokens": {
                      "type": "uint32",
                      "id": 3
                    },
                    "sharedTokens": {
                      "type": "uint32",
                      "id": 4
                    },
                    "computedTokens": {
                      "type": "uint32",
                      "id": 5
                    },
                    "savedTokens": {
                      "type": "uint32",
                      "id": 6
                    },
                    "waitUs": {
                      "type": "double",
                      "id": 7
                    },
                    "lossy": {
                      "type": "bool",
                      "id": 8
                    },
                    "inheritedTokens": {
                      "type": "uint32",
                      "id": 9
                    },
                    "versionsBack": {
                      "type": "uint32",
                      "id": 10
                    }
                  }
                },
                "RecallResponse": {
                  "fields": {
                    "requestId": {
                      "type": "string",
                      "id": 1
                    },
                    "items": {
                      "rule": "repeated",
                      "type": "RecalledItem",
                      "id": 2
                    },
                    "short": {
                      "type": "bool",
                      "id": 3
                    },
                    "widthsUsed": {
                      "rule": "repeated",
                      "type": "uint32",
                      "id": 4
                    },
                    "historyItems": {
                      "type": "uint32",
                      "id": 5
                    },
                    "trimmedItems": {
                      "type": "uint32",
                      "id": 6
                    },
                    "skippedItems": {
                      "type": "uint32",
                      "id": 7
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
                      "id": 11
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
                      "id": 22
                    }
                  }
                },
                "RecallService": {
                  "methods": {
                    "Recall": {
                      "requestType": "RecallRequest",
                      "responseType": "RecallResponse"
                    }
                  }
                }
              }
            },
            "events": {
              "nested": {
                "v1": {
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
                          }
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
                          "id": 3
                        },
                        "retryable": {
                          "type": "bool",
                          "id": 4
                        },
                        "retryAfterMs": {
                          "type": "uint32",
                          "id": 5
                        }
                      }
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
                          "id": 1
                        },
                        "edge": {
                          "type": "string",
                          "id": 2
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
                          "id": 6
                        }
                      }
                    },
                    "AuditedRequest": {
                      "fields": {
                        "requestId": {
                          "type": "string",
                          "id": 1
                        },
                        "userId": {
                          "type": "string",
                          "id": 2
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
                          "id": 9
                        },
                        "priority": {
                          "type": "string",
                          "id": 10
                        },
                        "eligibility": {
                          "type": "string",
                          "id": 11
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
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        },
        "kv": {
          "nested": {
            "v1": {
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
                      "id": 1
                    },
                    "isRetired": {
                      "type": "bool",
                      "id": 2
                    },
                    "seq": {
                      "type": "uint64",
                      "id": 3
                    },
                    "tokens": {
                      "type": "uint32",
                      "id": 4
                    },
                    "prefixTokens": {
                      "type": "uint32",
                      "id": 5
                    },
                    "deviceTokens": {
                      "type": "uint32",
                      "id": 6
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
                      "id": 9
                    },
                    "unusedUs": {
                      "type": "double",
                      "id": 10
                    },
                    "versionsBack": {
                      "type": "uint32",
                      "id": 11
                    }
                  }
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
                      }
                    },
                    "withRecords": {
                      "type": "bool",
                      "id": 3
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
                      "id": 4
                    },
                    "unreadableDiskBlocks": {
                      "type": "uint64",
                      "id": 5
                    },
                    "faults": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 6
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
                      "id": 1
                    },
                    "userId": {
                      "type": "string",
                      "id": 2
                    },
                    "profile": {
                      "keyType": "string",
                      "type": "string",
                      "id": 3
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
                      "id": 5
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
                      "id": 2
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
                      "id": 5
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
                      "responseType": "InspectResponse"
                    },
                    "DropUser": {
                      "requestType": "DropUserRequest",
                      "responseType": "DropUserResponse"
                    },
                    "DropVersion": {
                      "requestType": "DropVersionRequest",
                      "responseType": "DropVersionResponse"
                    },
                    "CheckIntegrity": {
                      "requestType": "CheckIntegrityRequest",
                      "responseType": "CheckIntegrityResponse"
                    },
                    "Append": {
                      "requestType": "AppendRequest",
                      "responseType": "AppendResponse"
                    }
                  }
                }
              }
            }
          }
        },
        "score": {
          "nested": {
            "v1": {
              "nested": {
                "SemanticId": {
                  "fields": {
                    "codes": {
                      "rule": "repeated",
                      "type": "uint32",
                      "id": 1
                    }
                  }
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
                  }
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
                      "id": 1
                    },
                    "userId": {
                      "type": "string",
                      "id": 2
                    },
                    "history": {
                      "type": "tessera.recall.v1.History",
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
                    "items": {
                      "rule": "repeated",
                      "type": "ScoreTarget",
                      "id": 6
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
                      }
                    },
                    "skipUnknownItems": {
                      "type": "bool",
                      "id": 9
                    },
                    "priority": {
                      "type": "tessera.recall.v1.Priority",
                      "id": 10
                    },
                    "catalogue": {
                      "type": "string",
                      "id": 20
                    },
                    "adapter": {
                      "type": "string",
                      "id": 21
                    }
                  }
                },
                "ScoreOutcome": {
                  "values": {
                    "SCORE_OUTCOME_UNSPECIFIED": 0,
                    "SCORE_OUTCOME_SCORED": 1,
                    "SCORE_OUTCOME_UNKNOWN": 2
                  }
                },
                "ItemScore": {
                  "oneofs": {
                    "_score": {
                      "oneof": [
                        "score"
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
                      "id": 2
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
                      }
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
                      "id": 2
                    },
                    "historyItems": {
                      "type": "uint32",
                      "id": 3
                    },
                    "trimmedItems": {
                      "type": "uint32",
                      "id": 4
                    },
                    "skippedItems": {
                      "type": "uint32",
                      "id": 5
                    },
                    "promptTokens": {
                      "type": "uint32",
                      "id": 6
                    },
                    "prefixReusedTokens": {
                      "type": "uint32",
                      "id": 7
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
                      "id": 11
                    }
                  }
                },
                "ScoreService": {
                  "methods": {
                    "Score": {
                      "requestType": "ScoreRequest",
                      "responseType": "ScoreResponse"
                    }
                  }
                }
              }
            }
          }
        },
        "weights": {
          "nested": {
            "v1": {
              "nested": {
                "UpdateRequest": {
                  "fields": {
                    "name": {
                      "type": "string",
                      "id": 1
                    }
                  }
                },
                "UpdateResponse": {
                  "fields": {
                    "digest": {
                      "type": "string",
                      "id": 1
                    },
                    "drainedUs": {
                      "type": "uint64",
                      "id": 2
                    },
                    "swappedUs": {
                      "type": "uint64",
                      "id": 3
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
                      "id": 1
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
                      "id": 1
                    },
                    "digest": {
                      "type": "string",
                      "id": 2
                    },
                    "previous": {
                      "type": "string",
                      "id": 3
                    }
                  }
                },
                "WeightsService": {
                  "methods": {
                    "Update": {
                      "requestType": "UpdateRequest",
                      "responseType": "UpdateResponse"
                    },
                    "Rollback": {
                      "requestType": "RollbackRequest",
                      "responseType": "RollbackResponse"
                    },
                    "Get": {
                      "requestType": "GetRequest",
                      "responseType": "GetResponse"
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
};

/** The same with the names of the proto files, for reflection. */
export const protoSchemaAsWritten: object = {
  "nested": {
    "tessera": {
      "nested": {
        "adapter": {
          "nested": {
            "events": {
              "nested": {
                "v1": {
                  "nested": {
                    "AdapterAnnounced": {
                      "fields": {
                        "name": {
                          "type": "string",
                          "id": 1
                        },
                        "base_model": {
                          "type": "string",
                          "id": 2
                        },
                        "location": {
                          "type": "string",
                          "id": 3
                        },
                        "share": {
                          "type": "double",
                          "id": 4
                        },
                        "sha256": {
                          "keyType": "string",
                          "type": "string",
                          "id": 5
                        }
                      }
                    },
                    "AdapterEvent": {
                      "fields": {
                        "time_ms": {
                          "type": "int64",
                          "id": 1
                        },
                        "action": {
                          "type": "string",
                          "id": 2
                        },
                        "actor": {
                          "type": "string",
                          "id": 3
                        },
                        "name": {
                          "type": "string",
                          "id": 4
                        },
                        "digest": {
                          "type": "string",
                          "id": 5
                        },
                        "outcome": {
                          "type": "string",
                          "id": 6
                        },
                        "detail": {
                          "type": "string",
                          "id": 7
                        }
                      }
                    }
                  }
                }
              }
            },
            "v1": {
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
                      "id": 3
                    }
                  }
                },
                "PushHeader": {
                  "fields": {
                    "name": {
                      "type": "string",
                      "id": 1
                    },
                    "base_model": {
                      "type": "string",
                      "id": 2
                    },
                    "files": {
                      "rule": "repeated",
                      "type": "PushedFile",
                      "id": 3
                    },
                    "remark": {
                      "type": "string",
                      "id": 4
                    }
                  }
                },
                "PushChunk": {
                  "fields": {
                    "data": {
                      "type": "bytes",
                      "id": 1
                    }
                  }
                },
                "PushEnd": {
                  "fields": {}
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
                      "id": 1
                    },
                    "chunk": {
                      "type": "PushChunk",
                      "id": 2
                    },
                    "end": {
                      "type": "PushEnd",
                      "id": 3
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
                      "id": 2
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
                      "id": 2
                    },
                    "state": {
                      "type": "State",
                      "id": 3
                    },
                    "reason": {
                      "type": "string",
                      "id": 4
                    },
                    "base_model": {
                      "type": "string",
                      "id": 5
                    },
                    "file_bytes": {
                      "type": "uint64",
                      "id": 6
                    },
                    "received_ms": {
                      "type": "int64",
                      "id": 7
                    },
                    "changed_ms": {
                      "type": "int64",
                      "id": 8
                    },
                    "pinned": {
                      "type": "bool",
                      "id": 9
                    },
                    "share": {
                      "type": "double",
                      "id": 10
                    },
                    "loaded": {
                      "type": "bool",
                      "id": 11
                    },
                    "arena_bytes": {
                      "type": "uint64",
                      "id": 12
                    },
                    "predecessor": {
                      "type": "bool",
                      "id": 13
                    },
                    "remark": {
                      "type": "string",
                      "id": 14
                    },
                    "rank_max": {
                      "type": "uint32",
                      "id": 15
                    },
                    "target_count": {
                      "type": "uint32",
                      "id": 16
                    },
                    "replaced_rows": {
                      "type": "uint32",
                      "id": 17
                    },
                    "largest_norm": {
                      "type": "double",
                      "id": 18
                    }
                  }
                },
                "ListRequest": {
                  "fields": {
                    "name": {
                      "type": "string",
                      "id": 1
                    }
                  }
                },
                "ListResponse": {
                  "fields": {
                    "versions": {
                      "rule": "repeated",
                      "type": "Version",
                      "id": 1
                    },
                    "default_name": {
                      "type": "string",
                      "id": 2
                    },
                    "arena_used_bytes": {
                      "type": "uint64",
                      "id": 3
                    },
                    "arena_max_bytes": {
                      "type": "uint64",
                      "id": 4
                    },
                    "disk_used_bytes": {
                      "type": "uint64",
                      "id": 5
                    },
                    "disk_max_bytes": {
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
                      "id": 2
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
                      "id": 2
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
                    "empty_answers": {
                      "type": "uint64",
                      "id": 3
                    },
                    "short_answers": {
                      "type": "uint64",
                      "id": 4
                    },
                    "latency_p50_ms": {
                      "type": "double",
                      "id": 5
                    },
                    "latency_p95_ms": {
                      "type": "double",
                      "id": 6
                    },
                    "clicks": {
                      "type": "uint64",
                      "id": 7
                    },
                    "click_score": {
                      "type": "double",
                      "id": 8
                    }
                  }
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
                      "id": 3
                    },
                    "overlap": {
                      "type": "double",
                      "id": 4
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
                      }
                    },
                    "force": {
                      "type": "bool",
                      "id": 4
                    },
                    "cold": {
                      "type": "bool",
                      "id": 5
                    }
                  }
                },
                "ActivateResponse": {
                  "oneofs": {
                    "_golden_overlap": {
                      "oneof": [
                        "golden_overlap"
                      ]
                    }
                  },
                  "fields": {
                    "version": {
                      "type": "Version",
                      "id": 1
                    },
                    "warmed_users": {
                      "type": "uint32",
                      "id": 2
                    },
                    "golden_overlap": {
                      "type": "double",
                      "id": 3,
                      "options": {
                        "proto3_optional": true
                      }
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
                      "id": 1
                    },
                    "replaced": {
                      "type": "Version",
                      "id": 2
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
                      "responseType": "PushResponse"
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
                      "responseType": "ActivateResponse"
                    },
                    "Rollback": {
                      "requestType": "RollbackRequest",
                      "responseType": "RollbackResponse"
                    },
                    "Pin": {
                      "requestType": "PinRequest",
                      "responseType": "PinResponse"
                    },
                    "Unpin": {
                      "requestType": "UnpinRequest",
                      "responseType": "UnpinResponse"
                    },
                    "Delete": {
                      "requestType": "DeleteRequest",
                      "responseType": "DeleteResponse"
                    }
                  }
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
              "nested": {
                "Behaviour": {
                  "fields": {
                    "user_id": {
                      "type": "string",
                      "id": 1
                    },
                    "event_id": {
                      "type": "string",
                      "id": 2
                    },
                    "item_id": {
                      "type": "string",
                      "id": 3
                    },
                    "action": {
                      "type": "string",
                      "id": 4
                    },
                    "time_ms": {
                      "type": "int64",
                      "id": 5
                    },
                    "scene": {
                      "keyType": "string",
                      "type": "string",
                      "id": 6
                    }
                  }
                },
                "AppendOutcome": {
                  "values": {
                    "APPEND_OUTCOME_UNSPECIFIED": 0,
                    "APPEND_OUTCOME_ADDED": 1,
                    "APPEND_OUTCOME_DUPLICATE": 2,
                    "APPEND_OUTCOME_OUTSIDE": 3
                  }
                },
                "AppendRequest": {
                  "fields": {
                    "behaviours": {
                      "rule": "repeated",
                      "type": "Behaviour",
                      "id": 1
                    }
                  }
                },
                "AppendResponse": {
                  "fields": {
                    "outcomes": {
                      "rule": "repeated",
                      "type": "AppendOutcome",
                      "id": 1
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
                    "user_id": {
                      "type": "string",
                      "id": 1
                    },
                    "limit": {
                      "type": "uint32",
                      "id": 2,
                      "options": {
                        "proto3_optional": true
                      }
                    }
                  }
                },
                "HistoryResponse": {
                  "fields": {
                    "behaviours": {
                      "rule": "repeated",
                      "type": "Behaviour",
                      "id": 1
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
                    "user_id": {
                      "type": "string",
                      "id": 1
                    },
                    "profile": {
                      "keyType": "string",
                      "type": "string",
                      "id": 2
                    }
                  }
                },
                "PutProfileResponse": {
                  "fields": {}
                },
                "EraseRequest": {
                  "fields": {
                    "user_id": {
                      "type": "string",
                      "id": 1
                    }
                  }
                },
                "EraseResponse": {
                  "fields": {
                    "known": {
                      "type": "bool",
                      "id": 1
                    }
                  }
                },
                "BehaviourService": {
                  "methods": {
                    "Append": {
                      "requestType": "AppendRequest",
                      "responseType": "AppendResponse"
                    },
                    "History": {
                      "requestType": "HistoryRequest",
                      "responseType": "HistoryResponse"
                    },
                    "PutProfile": {
                      "requestType": "PutProfileRequest",
                      "responseType": "PutProfileResponse"
                    },
                    "Erase": {
                      "requestType": "EraseRequest",
                      "responseType": "EraseResponse"
                    }
                  }
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
                  "nested": {
                    "CatalogueChanged": {
                      "fields": {
                        "changes": {
                          "rule": "repeated",
                          "type": "tessera.catalogue.v1.Change",
                          "id": 1
                        },
                        "catalogue": {
                          "type": "string",
                          "id": 2
                        }
                      }
                    }
                  }
                }
              }
            },
            "v1": {
              "nested": {
                "Upsert": {
                  "fields": {
                    "item_id": {
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
                    }
                  }
                },
                "SetAttributes": {
                  "fields": {
                    "item_id": {
                      "type": "string",
                      "id": 1
                    },
                    "attributes": {
                      "type": "string",
                      "id": 2
                    }
                  }
                },
                "SetPriority": {
                  "fields": {
                    "item_id": {
                      "type": "string",
                      "id": 1
                    },
                    "priority": {
                      "type": "double",
                      "id": 2
                    }
                  }
                },
                "Change": {
                  "oneofs": {
                    "change": {
                      "oneof": [
                        "upsert",
                        "pause_item_id",
                        "resume_item_id",
                        "remove_item_id",
                        "set_attributes",
                        "set_priority"
                      ]
                    }
                  },
                  "fields": {
                    "upsert": {
                      "type": "Upsert",
                      "id": 1
                    },
                    "pause_item_id": {
                      "type": "string",
                      "id": 2
                    },
                    "resume_item_id": {
                      "type": "string",
                      "id": 3
                    },
                    "remove_item_id": {
                      "type": "string",
                      "id": 4
                    },
                    "set_attributes": {
                      "type": "SetAttributes",
                      "id": 5
                    },
                    "set_priority": {
                      "type": "SetPriority",
                      "id": 6
                    }
                  }
                },
                "BundleStep": {
                  "fields": {
                    "follows": {
                      "type": "string",
                      "id": 1
                    },
                    "becomes": {
                      "type": "string",
                      "id": 2
                    }
                  }
                },
                "ApplyRequest": {
                  "fields": {
                    "changes": {
                      "rule": "repeated",
                      "type": "Change",
                      "id": 1
                    },
                    "bundle": {
                      "type": "BundleStep",
                      "id": 2
                    },
                    "catalogue": {
                      "type": "string",
                      "id": 15
                    }
                  }
                },
                "ApplyResponse": {
                  "fields": {
                    "sequence": {
                      "type": "uint64",
                      "id": 1
                    }
                  }
                },
                "ApplyStreamRequest": {
                  "fields": {
                    "changes": {
                      "rule": "repeated",
                      "type": "Change",
                      "id": 1
                    },
                    "catalogue": {
                      "type": "string",
                      "id": 15
                    }
                  }
                },
                "ApplyStreamResponse": {
                  "fields": {
                    "sequence": {
                      "type": "uint64",
                      "id": 1
                    }
                  }
                },
                "ApplyBatchRequest": {
                  "fields": {
                    "changes": {
                      "rule": "repeated",
                      "type": "Change",
                      "id": 1
                    },
                    "bundle": {
                      "type": "BundleStep",
                      "id": 2
                    },
                    "last": {
                      "type": "bool",
                      "id": 3
                    },
                    "catalogue": {
                      "type": "string",
                      "id": 15
                    }
                  }
                },
                "ApplyBatchResponse": {
                  "fields": {
                    "sequence": {
                      "type": "uint64",
                      "id": 1
                    }
                  }
                },
                "GetStateRequest": {
                  "fields": {
                    "catalogue": {
                      "type": "string",
                      "id": 15
                    }
                  }
                },
                "GetStateResponse": {
                  "fields": {
                    "sequence": {
                      "type": "uint64",
                      "id": 1
                    },
                    "base": {
                      "type": "string",
                      "id": 2
                    },
                    "live_item_count": {
                      "type": "uint64",
                      "id": 3
                    },
                    "changed_item_count": {
                      "type": "uint64",
                      "id": 4
                    },
                    "replayed_changes": {
                      "type": "uint64",
                      "id": 5
                    },
                    "cut_bytes": {
                      "type": "uint64",
                      "id": 6
                    },
                    "bundle_uuid": {
                      "type": "string",
                      "id": 7
                    },
                    "level_sizes": {
                      "rule": "repeated",
                      "type": "uint32",
                      "id": 8
                    }
                  }
                },
                "ListItemsRequest": {
                  "fields": {
                    "catalogue": {
                      "type": "string",
                      "id": 15
                    }
                  }
                },
                "Item": {
                  "fields": {
                    "item_id": {
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
                      "id": 6
                    }
                  }
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
                  }
                },
                "ListVersionsRequest": {
                  "fields": {
                    "catalogue": {
                      "type": "string",
                      "id": 15
                    }
                  }
                },
                "Generation": {
                  "fields": {
                    "first_sequence": {
                      "type": "uint64",
                      "id": 1
                    },
                    "last_sequence": {
                      "type": "uint64",
                      "id": 2
                    },
                    "log_bytes": {
                      "type": "uint64",
                      "id": 3
                    },
                    "base": {
                      "type": "string",
                      "id": 4
                    }
                  }
                },
                "ListVersionsResponse": {
                  "fields": {
                    "generations": {
                      "rule": "repeated",
                      "type": "Generation",
                      "id": 1
                    }
                  }
                },
                "CompactRequest": {
                  "fields": {
                    "catalogue": {
                      "type": "string",
                      "id": 15
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
                      "id": 1
                    },
                    "catalogue": {
                      "type": "string",
                      "id": 15
                    }
                  }
                },
                "RollBackResponse": {
                  "fields": {
                    "sequence": {
                      "type": "uint64",
                      "id": 1
                    }
                  }
                },
                "CatalogueService": {
                  "methods": {
                    "Apply": {
                      "requestType": "ApplyRequest",
                      "responseType": "ApplyResponse"
                    },
                    "ApplyStream": {
                      "requestType": "ApplyStreamRequest",
                      "requestStream": true,
                      "responseType": "ApplyStreamResponse",
                      "responseStream": true
                    },
                    "ApplyBatch": {
                      "requestType": "ApplyBatchRequest",
                      "requestStream": true,
                      "responseType": "ApplyBatchResponse"
                    },
                    "GetState": {
                      "requestType": "GetStateRequest",
                      "responseType": "GetStateResponse"
                    },
                    "ListItems": {
                      "requestType": "ListItemsRequest",
                      "responseType": "ListItemsResponse",
                      "responseStream": true
                    },
                    "ListVersions": {
                      "requestType": "ListVersionsRequest",
                      "responseType": "ListVersionsResponse"
                    },
                    "Compact": {
                      "requestType": "CompactRequest",
                      "responseType": "CompactResponse"
                    },
                    "RollBack": {
                      "requestType": "RollBackRequest",
                      "responseType": "RollBackResponse"
                    }
                  }
                }
              }
            }
          }
        },
        "explain": {
          "nested": {
            "v1": {
              "nested": {
                "ExplainRequest": {
                  "fields": {
                    "request": {
                      "type": "tessera.recall.v1.RecallRequest",
                      "id": 1
                    },
                    "item_id": {
                      "type": "string",
                      "id": 2
                    },
                    "versions": {
                      "type": "tessera.recall.v1.RecallVersions",
                      "id": 3
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
                    "VERDICT_BEHIND_DIVERSITY_CAP": 8
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
                    "_cut_score": {
                      "oneof": [
                        "cut_score"
                      ]
                    },
                    "_clause": {
                      "oneof": [
                        "clause"
                      ]
                    },
                    "_not_live_since": {
                      "oneof": [
                        "not_live_since"
                      ]
                    },
                    "_attribute": {
                      "oneof": [
                        "attribute"
                      ]
                    }
                  },
                  "fields": {
                    "request_id": {
                      "type": "string",
                      "id": 1
                    },
                    "item_id": {
                      "type": "string",
                      "id": 2
                    },
                    "sid": {
                      "rule": "repeated",
                      "type": "uint32",
                      "id": 3
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
                      }
                    },
                    "step": {
                      "type": "uint32",
                      "id": 6,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "score": {
                      "type": "double",
                      "id": 7,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "cut_score": {
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
                      }
                    },
                    "not_live_since": {
                      "type": "uint64",
                      "id": 10,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "widths_used": {
                      "rule": "repeated",
                      "type": "uint32",
                      "id": 11
                    },
                    "history_items": {
                      "type": "uint32",
                      "id": 12
                    },
                    "trimmed_items": {
                      "type": "uint32",
                      "id": 13
                    },
                    "skipped_items": {
                      "type": "uint32",
                      "id": 14
                    },
                    "prompt_tokens": {
                      "type": "uint32",
                      "id": 15
                    },
                    "prefix_reused_tokens": {
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
                      "id": 21
                    }
                  }
                },
                "ExplainService": {
                  "methods": {
                    "Explain": {
                      "requestType": "ExplainRequest",
                      "responseType": "ExplainResponse"
                    }
                  }
                }
              }
            }
          }
        },
        "recall": {
          "nested": {
            "v1": {
              "nested": {
                "ScoreNorm": {
                  "values": {
                    "SCORE_NORM_UNSPECIFIED": 0,
                    "SCORE_NORM_FULL": 1,
                    "SCORE_NORM_LEVEL": 2,
                    "SCORE_NORM_ALLOWED": 3
                  }
                },
                "Priority": {
                  "values": {
                    "PRIORITY_UNSPECIFIED": 0,
                    "PRIORITY_HIGH": 1,
                    "PRIORITY_NORMAL": 2,
                    "PRIORITY_LOW": 3
                  }
                },
                "History": {
                  "fields": {
                    "item_ids": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 1
                    }
                  }
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
                  }
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
                  }
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
                      "id": 4
                    },
                    "contains": {
                      "type": "TextClause",
                      "id": 5
                    },
                    "range": {
                      "type": "RangeClause",
                      "id": 6
                    }
                  }
                },
                "ItemList": {
                  "fields": {
                    "item_ids": {
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
                      "id": 2
                    },
                    "denied": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 3
                    },
                    "seen": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 4
                    }
                  }
                },
                "DiversityCap": {
                  "fields": {
                    "attribute": {
                      "type": "string",
                      "id": 1
                    },
                    "max_items": {
                      "type": "uint32",
                      "id": 2
                    }
                  }
                },
                "ItemPolicy": {
                  "fields": {
                    "order_by": {
                      "type": "string",
                      "id": 1
                    },
                    "diversity": {
                      "rule": "repeated",
                      "type": "DiversityCap",
                      "id": 2
                    }
                  }
                },
                "RecallRequest": {
                  "oneofs": {
                    "source": {
                      "oneof": [
                        "user_id",
                        "history"
                      ]
                    },
                    "_result_count": {
                      "oneof": [
                        "result_count"
                      ]
                    },
                    "_items_per_sid": {
                      "oneof": [
                        "items_per_sid"
                      ]
                    },
                    "_deadline_ms": {
                      "oneof": [
                        "deadline_ms"
                      ]
                    }
                  },
                  "fields": {
                    "request_id": {
                      "type": "string",
                      "id": 1
                    },
                    "user_id": {
                      "type": "string",
                      "id": 2
                    },
                    "history": {
                      "type": "History",
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
                    "result_count": {
                      "type": "uint32",
                      "id": 6,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "widths": {
                      "rule": "repeated",
                      "type": "uint32",
                      "id": 7
                    },
                    "items_per_sid": {
                      "type": "uint32",
                      "id": 8,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "score_norm": {
                      "type": "ScoreNorm",
                      "id": 9
                    },
                    "deadline_ms": {
                      "type": "uint32",
                      "id": 10,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "skip_unknown_items": {
                      "type": "bool",
                      "id": 11
                    },
                    "priority": {
                      "type": "Priority",
                      "id": 12
                    },
                    "eligibility": {
                      "type": "Eligibility",
                      "id": 20
                    },
                    "item_policy": {
                      "type": "ItemPolicy",
                      "id": 21
                    },
                    "allow_partial": {
                      "type": "bool",
                      "id": 22
                    },
                    "catalogue": {
                      "type": "string",
                      "id": 23
                    },
                    "adapter": {
                      "type": "string",
                      "id": 24
                    },
                    "inspect": {
                      "type": "bool",
                      "id": 30
                    }
                  }
                },
                "RecalledItem": {
                  "fields": {
                    "item_id": {
                      "type": "string",
                      "id": 1
                    },
                    "sid": {
                      "rule": "repeated",
                      "type": "uint32",
                      "id": 2
                    },
                    "score": {
                      "type": "double",
                      "id": 3
                    },
                    "rank": {
                      "type": "uint32",
                      "id": 4
                    },
                    "title": {
                      "type": "string",
                      "id": 5
                    }
                  }
                },
                "RecallTimings": {
                  "fields": {
                    "features_us": {
                      "type": "double",
                      "id": 1
                    },
                    "prompt_us": {
                      "type": "double",
                      "id": 2
                    },
                    "queue_us": {
                      "type": "double",
                      "id": 3
                    },
                    "prefill_us": {
                      "type": "double",
                      "id": 4
                    },
                    "decode_us": {
                      "type": "double",
                      "id": 5
                    },
                    "head_us": {
                      "type": "double",
                      "id": 6
                    },
                    "select_us": {
                      "type": "double",
                      "id": 7
                    },
                    "export_us": {
                      "type": "double",
                      "id": 8
                    },
                    "total_us": {
                      "type": "double",
                      "id": 9
                    },
                    "plan_us": {
                      "type": "double",
                      "id": 10
                    },
                    "projections_us": {
                      "type": "double",
                      "id": 11
                    },
                    "attention_us": {
                      "type": "double",
                      "id": 12
                    },
                    "fork_us": {
                      "type": "double",
                      "id": 13
                    }
                  }
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
                    "prompt_template": {
                      "type": "string",
                      "id": 3
                    },
                    "catalogue_sequence": {
                      "type": "uint64",
                      "id": 4
                    },
                    "adapter": {
                      "type": "string",
                      "id": 5
                    },
                    "adapter_name": {
                      "type": "string",
                      "id": 6
                    }
                  }
                },
                "Completeness": {
                  "values": {
                    "COMPLETENESS_UNSPECIFIED": 0,
                    "COMPLETENESS_WHOLE": 1,
                    "COMPLETENESS_NARROWED": 2,
                    "COMPLETENESS_CUT": 3
                  }
                },
                "AppliedItemPolicy": {
                  "fields": {
                    "order_by": {
                      "type": "string",
                      "id": 1
                    },
                    "diversity": {
                      "rule": "repeated",
                      "type": "DiversityCap",
                      "id": 2
                    },
                    "items_per_sid": {
                      "type": "uint32",
                      "id": 3
                    },
                    "result_count": {
                      "type": "uint32",
                      "id": 4
                    },
                    "left_out_by_diversity": {
                      "type": "uint32",
                      "id": 5
                    }
                  }
                },
                "KvProvenance": {
                  "fields": {
                    "device_tokens": {
                      "type": "uint32",
                      "id": 1
                    },
                    "host_tokens": {
                      "type": "uint32",
                      "id": 2
                    },
                    "disk_tokens": {
                      "type": "uint32",
                      "id": 3
                    },
                    "shared_tokens": {
                      "type": "uint32",
                      "id": 4
                    },
                    "computed_tokens": {
                      "type": "uint32",
                      "id": 5
                    },
                    "saved_tokens": {
                      "type": "uint32",
                      "id": 6
                    },
                    "wait_us": {
                      "type": "double",
                      "id": 7
                    },
                    "lossy": {
                      "type": "bool",
                      "id": 8
                    },
                    "inherited_tokens": {
                      "type": "uint32",
                      "id": 9
                    },
                    "versions_back": {
                      "type": "uint32",
                      "id": 10
                    }
                  }
                },
                "RecallResponse": {
                  "fields": {
                    "request_id": {
                      "type": "string",
                      "id": 1
                    },
                    "items": {
                      "rule": "repeated",
                      "type": "RecalledItem",
                      "id": 2
                    },
                    "short": {
                      "type": "bool",
                      "id": 3
                    },
                    "widths_used": {
                      "rule": "repeated",
                      "type": "uint32",
                      "id": 4
                    },
                    "history_items": {
                      "type": "uint32",
                      "id": 5
                    },
                    "trimmed_items": {
                      "type": "uint32",
                      "id": 6
                    },
                    "skipped_items": {
                      "type": "uint32",
                      "id": 7
                    },
                    "prompt_tokens": {
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
                    "prefix_reused_tokens": {
                      "type": "uint32",
                      "id": 11
                    },
                    "kv": {
                      "type": "KvProvenance",
                      "id": 12
                    },
                    "completeness": {
                      "type": "Completeness",
                      "id": 20
                    },
                    "item_policy": {
                      "type": "AppliedItemPolicy",
                      "id": 21
                    },
                    "fallback": {
                      "type": "string",
                      "id": 22
                    }
                  }
                },
                "RecallService": {
                  "methods": {
                    "Recall": {
                      "requestType": "RecallRequest",
                      "responseType": "RecallResponse"
                    }
                  }
                }
              }
            },
            "events": {
              "nested": {
                "v1": {
                  "nested": {
                    "RecallRequested": {
                      "oneofs": {
                        "_deadline_time_ms": {
                          "oneof": [
                            "deadline_time_ms"
                          ]
                        }
                      },
                      "fields": {
                        "request": {
                          "type": "tessera.recall.v1.RecallRequest",
                          "id": 1
                        },
                        "deadline_time_ms": {
                          "type": "int64",
                          "id": 2,
                          "options": {
                            "proto3_optional": true
                          }
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
                          "id": 3
                        },
                        "retryable": {
                          "type": "bool",
                          "id": 4
                        },
                        "retry_after_ms": {
                          "type": "uint32",
                          "id": 5
                        }
                      }
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
                        "time_ms": {
                          "type": "int64",
                          "id": 1
                        },
                        "edge": {
                          "type": "string",
                          "id": 2
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
                        "trace_id": {
                          "type": "string",
                          "id": 6
                        }
                      }
                    },
                    "AuditedRequest": {
                      "fields": {
                        "request_id": {
                          "type": "string",
                          "id": 1
                        },
                        "user_id": {
                          "type": "string",
                          "id": 2
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
                        "result_count": {
                          "type": "uint32",
                          "id": 6
                        },
                        "widths": {
                          "rule": "repeated",
                          "type": "uint32",
                          "id": 7
                        },
                        "items_per_sid": {
                          "type": "uint32",
                          "id": 8
                        },
                        "score_norm": {
                          "type": "string",
                          "id": 9
                        },
                        "priority": {
                          "type": "string",
                          "id": 10
                        },
                        "eligibility": {
                          "type": "string",
                          "id": 11
                        },
                        "item_policy": {
                          "type": "tessera.recall.v1.ItemPolicy",
                          "id": 12
                        },
                        "allow_partial": {
                          "type": "bool",
                          "id": 13
                        },
                        "skip_unknown_items": {
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
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        },
        "kv": {
          "nested": {
            "v1": {
              "nested": {
                "InspectRequest": {
                  "fields": {
                    "user_id": {
                      "type": "string",
                      "id": 1
                    }
                  }
                },
                "Chain": {
                  "fields": {
                    "version": {
                      "type": "string",
                      "id": 1
                    },
                    "is_retired": {
                      "type": "bool",
                      "id": 2
                    },
                    "seq": {
                      "type": "uint64",
                      "id": 3
                    },
                    "tokens": {
                      "type": "uint32",
                      "id": 4
                    },
                    "prefix_tokens": {
                      "type": "uint32",
                      "id": 5
                    },
                    "device_tokens": {
                      "type": "uint32",
                      "id": 6
                    },
                    "host_tokens": {
                      "type": "uint32",
                      "id": 7
                    },
                    "disk_tokens": {
                      "type": "uint32",
                      "id": 8
                    },
                    "durable_tokens": {
                      "type": "uint32",
                      "id": 9
                    },
                    "unused_us": {
                      "type": "double",
                      "id": 10
                    },
                    "versions_back": {
                      "type": "uint32",
                      "id": 11
                    }
                  }
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
                    "_deadline_ms": {
                      "oneof": [
                        "deadline_ms"
                      ]
                    }
                  },
                  "fields": {
                    "user_id": {
                      "type": "string",
                      "id": 1
                    },
                    "deadline_ms": {
                      "type": "uint32",
                      "id": 2,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "with_records": {
                      "type": "bool",
                      "id": 3
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
                    "checked_disk_blocks": {
                      "type": "uint64",
                      "id": 3
                    },
                    "corrupt_disk_blocks": {
                      "type": "uint64",
                      "id": 4
                    },
                    "unreadable_disk_blocks": {
                      "type": "uint64",
                      "id": 5
                    },
                    "faults": {
                      "rule": "repeated",
                      "type": "string",
                      "id": 6
                    }
                  }
                },
                "AppendRequest": {
                  "oneofs": {
                    "_deadline_ms": {
                      "oneof": [
                        "deadline_ms"
                      ]
                    }
                  },
                  "fields": {
                    "request_id": {
                      "type": "string",
                      "id": 1
                    },
                    "user_id": {
                      "type": "string",
                      "id": 2
                    },
                    "profile": {
                      "keyType": "string",
                      "type": "string",
                      "id": 3
                    },
                    "deadline_ms": {
                      "type": "uint32",
                      "id": 4,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "only_held": {
                      "type": "bool",
                      "id": 5
                    }
                  }
                },
                "AppendResponse": {
                  "fields": {
                    "request_id": {
                      "type": "string",
                      "id": 1
                    },
                    "history_items": {
                      "type": "uint32",
                      "id": 2
                    },
                    "trimmed_items": {
                      "type": "uint32",
                      "id": 3
                    },
                    "skipped_items": {
                      "type": "uint32",
                      "id": 4
                    },
                    "kept_tokens": {
                      "type": "uint32",
                      "id": 5
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
                      "responseType": "InspectResponse"
                    },
                    "DropUser": {
                      "requestType": "DropUserRequest",
                      "responseType": "DropUserResponse"
                    },
                    "DropVersion": {
                      "requestType": "DropVersionRequest",
                      "responseType": "DropVersionResponse"
                    },
                    "CheckIntegrity": {
                      "requestType": "CheckIntegrityRequest",
                      "responseType": "CheckIntegrityResponse"
                    },
                    "Append": {
                      "requestType": "AppendRequest",
                      "responseType": "AppendResponse"
                    }
                  }
                }
              }
            }
          }
        },
        "score": {
          "nested": {
            "v1": {
              "nested": {
                "SemanticId": {
                  "fields": {
                    "codes": {
                      "rule": "repeated",
                      "type": "uint32",
                      "id": 1
                    }
                  }
                },
                "ScoreTarget": {
                  "oneofs": {
                    "target": {
                      "oneof": [
                        "item_id",
                        "sid"
                      ]
                    }
                  },
                  "fields": {
                    "item_id": {
                      "type": "string",
                      "id": 1
                    },
                    "sid": {
                      "type": "SemanticId",
                      "id": 2
                    }
                  }
                },
                "ScoreRequest": {
                  "oneofs": {
                    "source": {
                      "oneof": [
                        "user_id",
                        "history"
                      ]
                    },
                    "_deadline_ms": {
                      "oneof": [
                        "deadline_ms"
                      ]
                    }
                  },
                  "fields": {
                    "request_id": {
                      "type": "string",
                      "id": 1
                    },
                    "user_id": {
                      "type": "string",
                      "id": 2
                    },
                    "history": {
                      "type": "tessera.recall.v1.History",
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
                    "items": {
                      "rule": "repeated",
                      "type": "ScoreTarget",
                      "id": 6
                    },
                    "score_norm": {
                      "type": "tessera.recall.v1.ScoreNorm",
                      "id": 7
                    },
                    "deadline_ms": {
                      "type": "uint32",
                      "id": 8,
                      "options": {
                        "proto3_optional": true
                      }
                    },
                    "skip_unknown_items": {
                      "type": "bool",
                      "id": 9
                    },
                    "priority": {
                      "type": "tessera.recall.v1.Priority",
                      "id": 10
                    },
                    "catalogue": {
                      "type": "string",
                      "id": 20
                    },
                    "adapter": {
                      "type": "string",
                      "id": 21
                    }
                  }
                },
                "ScoreOutcome": {
                  "values": {
                    "SCORE_OUTCOME_UNSPECIFIED": 0,
                    "SCORE_OUTCOME_SCORED": 1,
                    "SCORE_OUTCOME_UNKNOWN": 2
                  }
                },
                "ItemScore": {
                  "oneofs": {
                    "_score": {
                      "oneof": [
                        "score"
                      ]
                    }
                  },
                  "fields": {
                    "item_id": {
                      "type": "string",
                      "id": 1
                    },
                    "sid": {
                      "rule": "repeated",
                      "type": "uint32",
                      "id": 2
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
                      }
                    }
                  }
                },
                "ScoreResponse": {
                  "fields": {
                    "request_id": {
                      "type": "string",
                      "id": 1
                    },
                    "items": {
                      "rule": "repeated",
                      "type": "ItemScore",
                      "id": 2
                    },
                    "history_items": {
                      "type": "uint32",
                      "id": 3
                    },
                    "trimmed_items": {
                      "type": "uint32",
                      "id": 4
                    },
                    "skipped_items": {
                      "type": "uint32",
                      "id": 5
                    },
                    "prompt_tokens": {
                      "type": "uint32",
                      "id": 6
                    },
                    "prefix_reused_tokens": {
                      "type": "uint32",
                      "id": 7
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
                      "id": 11
                    }
                  }
                },
                "ScoreService": {
                  "methods": {
                    "Score": {
                      "requestType": "ScoreRequest",
                      "responseType": "ScoreResponse"
                    }
                  }
                }
              }
            }
          }
        },
        "weights": {
          "nested": {
            "v1": {
              "nested": {
                "UpdateRequest": {
                  "fields": {
                    "name": {
                      "type": "string",
                      "id": 1
                    }
                  }
                },
                "UpdateResponse": {
                  "fields": {
                    "digest": {
                      "type": "string",
                      "id": 1
                    },
                    "drained_us": {
                      "type": "uint64",
                      "id": 2
                    },
                    "swapped_us": {
                      "type": "uint64",
                      "id": 3
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
                      "id": 1
                    },
                    "digest": {
                      "type": "string",
                      "id": 2
                    },
                    "drained_us": {
                      "type": "uint64",
                      "id": 3
                    },
                    "swapped_us": {
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
                      "id": 1
                    },
                    "digest": {
                      "type": "string",
                      "id": 2
                    },
                    "previous": {
                      "type": "string",
                      "id": 3
                    }
                  }
                },
                "WeightsService": {
                  "methods": {
                    "Update": {
                      "requestType": "UpdateRequest",
                      "responseType": "UpdateResponse"
                    },
                    "Rollback": {
                      "requestType": "RollbackRequest",
                      "responseType": "RollbackResponse"
                    },
                    "Get": {
                      "requestType": "GetRequest",
                      "responseType": "GetResponse"
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
};
