// Generated from apps/console/src/answers.ts by tools/generate.mjs. Do not edit.

import type { ConsoleAnswers } from '../answers.js';

/** Schemas of OpenAPI 3.0 by `METHOD path`. */
export const ANSWER_SCHEMAS: Readonly<Record<keyof ConsoleAnswers, object>> = {
  "get login": {
    "type": "object",
    "properties": {
      "visitor": {
        "type": "object",
        "properties": {
          "name": {
            "type": "string"
          },
          "role": {
            "type": "string",
            "enum": [
              "read",
              "operate",
              "admin"
            ]
          }
        },
        "required": [
          "name",
          "role"
        ],
        "additionalProperties": false,
        "nullable": true
      },
      "ways": {
        "type": "object",
        "properties": {
          "token": {
            "type": "boolean"
          },
          "oidc": {
            "type": "boolean"
          }
        },
        "required": [
          "token",
          "oidc"
        ],
        "additionalProperties": false,
        "nullable": true
      }
    },
    "required": [
      "visitor",
      "ways"
    ],
    "additionalProperties": false
  },
  "post login": {
    "type": "object",
    "properties": {
      "visitor": {
        "type": "object",
        "properties": {
          "name": {
            "type": "string"
          },
          "role": {
            "type": "string",
            "enum": [
              "read",
              "operate",
              "admin"
            ]
          }
        },
        "required": [
          "name",
          "role"
        ],
        "additionalProperties": false,
        "nullable": true
      },
      "ways": {
        "type": "object",
        "properties": {
          "token": {
            "type": "boolean"
          },
          "oidc": {
            "type": "boolean"
          }
        },
        "required": [
          "token",
          "oidc"
        ],
        "additionalProperties": false,
        "nullable": true
      }
    },
    "required": [
      "visitor",
      "ways"
    ],
    "additionalProperties": false
  },
  "delete login": {
    "type": "object",
    "properties": {
      "visitor": {
        "type": "object",
        "properties": {
          "name": {
            "type": "string"
          },
          "role": {
            "type": "string",
            "enum": [
              "read",
              "operate",
              "admin"
            ]
          }
        },
        "required": [
          "name",
          "role"
        ],
        "additionalProperties": false,
        "nullable": true
      },
      "ways": {
        "type": "object",
        "properties": {
          "token": {
            "type": "boolean"
          },
          "oidc": {
            "type": "boolean"
          }
        },
        "required": [
          "token",
          "oidc"
        ],
        "additionalProperties": false,
        "nullable": true
      }
    },
    "required": [
      "visitor",
      "ways"
    ],
    "additionalProperties": false
  },
  "post login/oidc": {
    "type": "object",
    "properties": {
      "url": {
        "type": "string"
      }
    },
    "required": [
      "url"
    ],
    "additionalProperties": false
  },
  "get about": {
    "type": "object",
    "properties": {
      "service": {
        "type": "string"
      },
      "state": {
        "type": "string"
      },
      "visitor": {
        "type": "object",
        "properties": {
          "name": {
            "type": "string"
          },
          "role": {
            "type": "string",
            "enum": [
              "read",
              "operate",
              "admin"
            ]
          }
        },
        "required": [
          "name",
          "role"
        ],
        "additionalProperties": false
      },
      "model": {
        "type": "object",
        "properties": {
          "family": {
            "type": "string"
          },
          "parameterCount": {
            "type": "number"
          },
          "computeType": {
            "type": "string"
          },
          "instructionSet": {
            "type": "string"
          },
          "digest": {
            "type": "string"
          }
        },
        "required": [
          "family",
          "parameterCount",
          "computeType",
          "instructionSet",
          "digest"
        ],
        "additionalProperties": false
      },
      "catalogue": {
        "type": "object",
        "properties": {
          "digest": {
            "type": "string"
          },
          "itemCount": {
            "type": "number"
          },
          "pathCount": {
            "type": "number"
          },
          "depth": {
            "type": "number"
          },
          "sequence": {
            "type": "number"
          },
          "liveItemCount": {
            "type": "number"
          }
        },
        "required": [
          "digest",
          "itemCount",
          "pathCount",
          "depth",
          "sequence",
          "liveItemCount"
        ],
        "additionalProperties": false
      },
      "promptTemplate": {
        "type": "object",
        "properties": {
          "name": {
            "type": "string"
          },
          "digest": {
            "type": "string"
          }
        },
        "required": [
          "name",
          "digest"
        ],
        "additionalProperties": false
      },
      "valuations": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "name": {
              "type": "string"
            },
            "hasHeads": {
              "type": "boolean"
            }
          },
          "required": [
            "name",
            "hasHeads"
          ],
          "additionalProperties": false
        }
      },
      "isRecording": {
        "type": "boolean"
      },
      "canErase": {
        "type": "boolean"
      }
    },
    "required": [
      "service",
      "state",
      "visitor",
      "model",
      "catalogue",
      "promptTemplate",
      "valuations",
      "isRecording",
      "canErase"
    ],
    "additionalProperties": false
  },
  "get cluster": {
    "type": "object",
    "properties": {
      "gateway": {
        "type": "string"
      },
      "table": {
        "type": "object",
        "properties": {
          "revision": {
            "type": "number"
          },
          "digest": {
            "type": "string"
          },
          "partitions": {
            "type": "number"
          },
          "versions": {
            "type": "object",
            "additionalProperties": {
              "type": "string"
            }
          },
          "nodes": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "name": {
                  "type": "string"
                },
                "grpc": {
                  "type": "string"
                },
                "http": {
                  "type": "string"
                },
                "weight": {
                  "type": "number"
                },
                "role": {
                  "type": "string",
                  "enum": [
                    "answer",
                    "append",
                    "both"
                  ]
                },
                "state": {
                  "type": "string"
                },
                "reason": {
                  "type": "string"
                },
                "ownedPartitions": {
                  "type": "number"
                },
                "inFlight": {
                  "type": "number"
                },
                "outstandingUs": {
                  "type": "number"
                },
                "chains": {
                  "type": "number"
                },
                "relevance": {
                  "type": "object",
                  "properties": {
                    "model": {
                      "type": "string"
                    },
                    "template": {
                      "type": "string"
                    },
                    "backlogUs": {
                      "type": "number"
                    },
                    "tokenUs": {
                      "type": "number"
                    }
                  },
                  "required": [
                    "model",
                    "template",
                    "backlogUs",
                    "tokenUs"
                  ],
                  "additionalProperties": false
                },
                "versions": {
                  "type": "object",
                  "additionalProperties": {
                    "type": "string"
                  }
                },
                "log": {
                  "type": "object",
                  "properties": {
                    "identity": {
                      "type": "string"
                    },
                    "offset": {
                      "type": "number"
                    },
                    "digest": {
                      "type": "string"
                    },
                    "fault": {
                      "type": "string"
                    },
                    "isStopped": {
                      "type": "boolean"
                    },
                    "ageMs": {
                      "type": "number"
                    },
                    "isStale": {
                      "type": "boolean"
                    }
                  },
                  "required": [
                    "identity",
                    "offset",
                    "digest",
                    "fault",
                    "isStopped"
                  ],
                  "additionalProperties": false
                }
              },
              "required": [
                "chains",
                "grpc",
                "http",
                "inFlight",
                "log",
                "name",
                "outstandingUs",
                "ownedPartitions",
                "reason",
                "state",
                "versions",
                "weight"
              ],
              "additionalProperties": false
            }
          }
        },
        "required": [
          "revision",
          "digest",
          "partitions",
          "versions",
          "nodes"
        ],
        "additionalProperties": false,
        "nullable": true
      },
      "fault": {
        "type": "string"
      }
    },
    "required": [
      "gateway",
      "table",
      "fault"
    ],
    "additionalProperties": false
  },
  "get live": {
    "type": "object",
    "properties": {
      "pulses": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "timeMs": {
              "type": "number"
            },
            "seconds": {
              "type": "number"
            },
            "answered": {
              "type": "number"
            },
            "short": {
              "type": "number"
            },
            "refused": {
              "type": "object",
              "additionalProperties": {
                "type": "number"
              }
            },
            "stagesUs": {
              "type": "object",
              "properties": {
                "features": {
                  "type": "object",
                  "properties": {
                    "p50": {
                      "type": "number"
                    },
                    "p95": {
                      "type": "number"
                    },
                    "p99": {
                      "type": "number"
                    }
                  },
                  "required": [
                    "p50",
                    "p95",
                    "p99"
                  ],
                  "additionalProperties": false
                },
                "prompt": {
                  "type": "object",
                  "properties": {
                    "p50": {
                      "type": "number"
                    },
                    "p95": {
                      "type": "number"
                    },
                    "p99": {
                      "type": "number"
                    }
                  },
                  "required": [
                    "p50",
                    "p95",
                    "p99"
                  ],
                  "additionalProperties": false
                },
                "queue": {
                  "type": "object",
                  "properties": {
                    "p50": {
                      "type": "number"
                    },
                    "p95": {
                      "type": "number"
                    },
                    "p99": {
                      "type": "number"
                    }
                  },
                  "required": [
                    "p50",
                    "p95",
                    "p99"
                  ],
                  "additionalProperties": false
                },
                "prefill": {
                  "type": "object",
                  "properties": {
                    "p50": {
                      "type": "number"
                    },
                    "p95": {
                      "type": "number"
                    },
                    "p99": {
                      "type": "number"
                    }
                  },
                  "required": [
                    "p50",
                    "p95",
                    "p99"
                  ],
                  "additionalProperties": false
                },
                "decode": {
                  "type": "object",
                  "properties": {
                    "p50": {
                      "type": "number"
                    },
                    "p95": {
                      "type": "number"
                    },
                    "p99": {
                      "type": "number"
                    }
                  },
                  "required": [
                    "p50",
                    "p95",
                    "p99"
                  ],
                  "additionalProperties": false
                },
                "head": {
                  "type": "object",
                  "properties": {
                    "p50": {
                      "type": "number"
                    },
                    "p95": {
                      "type": "number"
                    },
                    "p99": {
                      "type": "number"
                    }
                  },
                  "required": [
                    "p50",
                    "p95",
                    "p99"
                  ],
                  "additionalProperties": false
                },
                "select": {
                  "type": "object",
                  "properties": {
                    "p50": {
                      "type": "number"
                    },
                    "p95": {
                      "type": "number"
                    },
                    "p99": {
                      "type": "number"
                    }
                  },
                  "required": [
                    "p50",
                    "p95",
                    "p99"
                  ],
                  "additionalProperties": false
                },
                "export": {
                  "type": "object",
                  "properties": {
                    "p50": {
                      "type": "number"
                    },
                    "p95": {
                      "type": "number"
                    },
                    "p99": {
                      "type": "number"
                    }
                  },
                  "required": [
                    "p50",
                    "p95",
                    "p99"
                  ],
                  "additionalProperties": false
                },
                "total": {
                  "type": "object",
                  "properties": {
                    "p50": {
                      "type": "number"
                    },
                    "p95": {
                      "type": "number"
                    },
                    "p99": {
                      "type": "number"
                    }
                  },
                  "required": [
                    "p50",
                    "p95",
                    "p99"
                  ],
                  "additionalProperties": false
                }
              },
              "additionalProperties": false
            },
            "tokens": {
              "type": "object",
              "properties": {
                "device": {
                  "type": "number"
                },
                "host": {
                  "type": "number"
                },
                "disk": {
                  "type": "number"
                },
                "shared": {
                  "type": "number"
                },
                "computed": {
                  "type": "number"
                }
              },
              "required": [
                "device",
                "host",
                "disk",
                "shared",
                "computed"
              ],
              "additionalProperties": false
            },
            "widthMax": {
              "type": "number"
            },
            "widthMean": {
              "type": "number"
            },
            "recorded": {
              "type": "number"
            },
            "catalogueSequence": {
              "type": "number"
            }
          },
          "required": [
            "timeMs",
            "seconds",
            "answered",
            "short",
            "refused",
            "stagesUs",
            "tokens",
            "widthMax",
            "widthMean",
            "recorded",
            "catalogueSequence"
          ],
          "additionalProperties": false
        }
      },
      "engine": {
        "type": "object",
        "properties": {
          "queued": {
            "type": "number"
          },
          "running": {
            "type": "number"
          }
        },
        "required": [
          "queued",
          "running"
        ],
        "additionalProperties": false
      },
      "store": {
        "type": "object",
        "properties": {
          "recalls": {
            "type": "number"
          },
          "items": {
            "type": "number"
          },
          "usedBytes": {
            "type": "number"
          },
          "oldestMs": {
            "type": "number"
          },
          "newestMs": {
            "type": "number"
          },
          "queued": {
            "type": "number"
          },
          "written": {
            "type": "number"
          },
          "dropped": {
            "type": "number"
          },
          "failed": {
            "type": "number"
          }
        },
        "required": [
          "recalls",
          "items",
          "usedBytes",
          "oldestMs",
          "newestMs",
          "queued",
          "written",
          "dropped",
          "failed"
        ],
        "additionalProperties": false
      },
      "canaries": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "name": {
              "type": "string"
            },
            "digest": {
              "type": "string"
            },
            "share": {
              "type": "number"
            },
            "changedMs": {
              "type": "number"
            },
            "report": {
              "type": "object",
              "properties": {
                "summary": {
                  "type": "object",
                  "properties": {
                    "canary": {
                      "type": "object",
                      "properties": {
                        "answers": {
                          "type": "number"
                        },
                        "failures": {
                          "type": "number"
                        },
                        "emptyAnswers": {
                          "type": "number"
                        },
                        "shortAnswers": {
                          "type": "number"
                        },
                        "latencyP50Ms": {
                          "type": "number"
                        },
                        "latencyP95Ms": {
                          "type": "number"
                        },
                        "clicks": {
                          "type": "number"
                        },
                        "clickScore": {
                          "type": "number"
                        },
                        "clickRate": {
                          "type": "object",
                          "properties": {
                            "userAnswers": {
                              "type": "number"
                            },
                            "clickedAnswers": {
                              "type": "number"
                            },
                            "rate": {
                              "type": "number"
                            },
                            "low": {
                              "type": "number"
                            },
                            "high": {
                              "type": "number"
                            }
                          },
                          "required": [
                            "userAnswers",
                            "clickedAnswers",
                            "rate",
                            "low",
                            "high"
                          ],
                          "additionalProperties": false
                        }
                      },
                      "required": [
                        "answers",
                        "failures",
                        "emptyAnswers",
                        "shortAnswers",
                        "latencyP50Ms",
                        "latencyP95Ms",
                        "clicks",
                        "clickScore",
                        "clickRate"
                      ],
                      "additionalProperties": false
                    },
                    "active": {
                      "type": "object",
                      "properties": {
                        "answers": {
                          "type": "number"
                        },
                        "failures": {
                          "type": "number"
                        },
                        "emptyAnswers": {
                          "type": "number"
                        },
                        "shortAnswers": {
                          "type": "number"
                        },
                        "latencyP50Ms": {
                          "type": "number"
                        },
                        "latencyP95Ms": {
                          "type": "number"
                        },
                        "clicks": {
                          "type": "number"
                        },
                        "clickScore": {
                          "type": "number"
                        },
                        "clickRate": {
                          "type": "object",
                          "properties": {
                            "userAnswers": {
                              "type": "number"
                            },
                            "clickedAnswers": {
                              "type": "number"
                            },
                            "rate": {
                              "type": "number"
                            },
                            "low": {
                              "type": "number"
                            },
                            "high": {
                              "type": "number"
                            }
                          },
                          "required": [
                            "userAnswers",
                            "clickedAnswers",
                            "rate",
                            "low",
                            "high"
                          ],
                          "additionalProperties": false
                        }
                      },
                      "required": [
                        "answers",
                        "failures",
                        "emptyAnswers",
                        "shortAnswers",
                        "latencyP50Ms",
                        "latencyP95Ms",
                        "clicks",
                        "clickScore",
                        "clickRate"
                      ],
                      "additionalProperties": false
                    },
                    "shadowed": {
                      "type": "number"
                    },
                    "overlap": {
                      "type": "number"
                    },
                    "clickVerdict": {
                      "type": "string"
                    }
                  },
                  "required": [
                    "canary",
                    "active",
                    "shadowed",
                    "overlap",
                    "clickVerdict"
                  ],
                  "additionalProperties": false
                },
                "verdicts": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "rule": {
                        "type": "string",
                        "enum": [
                          "failures",
                          "emptyAnswers",
                          "shortAnswers",
                          "overlap",
                          "latency",
                          "clicks",
                          "clickRate"
                        ]
                      },
                      "bound": {
                        "type": "string",
                        "enum": [
                          "most",
                          "least"
                        ]
                      },
                      "limit": {
                        "type": "number"
                      },
                      "observed": {
                        "type": "number"
                      },
                      "unit": {
                        "type": "string",
                        "enum": [
                          "%",
                          "ms",
                          "nats"
                        ]
                      },
                      "samples": {
                        "type": "number"
                      },
                      "samplesMin": {
                        "type": "number"
                      },
                      "isBroken": {
                        "type": "boolean"
                      },
                      "message": {
                        "type": "string"
                      }
                    },
                    "required": [
                      "rule",
                      "bound",
                      "limit",
                      "observed",
                      "unit",
                      "samples",
                      "samplesMin",
                      "isBroken",
                      "message"
                    ],
                    "additionalProperties": false
                  }
                },
                "moves": {
                  "type": "object",
                  "properties": {
                    "gained": {
                      "type": "array",
                      "items": {
                        "type": "object",
                        "properties": {
                          "itemId": {
                            "type": "string"
                          },
                          "recalls": {
                            "type": "number"
                          }
                        },
                        "required": [
                          "itemId",
                          "recalls"
                        ],
                        "additionalProperties": false
                      }
                    },
                    "lost": {
                      "type": "array",
                      "items": {
                        "type": "object",
                        "properties": {
                          "itemId": {
                            "type": "string"
                          },
                          "recalls": {
                            "type": "number"
                          }
                        },
                        "required": [
                          "itemId",
                          "recalls"
                        ],
                        "additionalProperties": false
                      }
                    }
                  },
                  "required": [
                    "gained",
                    "lost"
                  ],
                  "additionalProperties": false
                }
              },
              "required": [
                "summary",
                "verdicts",
                "moves"
              ],
              "additionalProperties": false
            }
          },
          "required": [
            "name",
            "digest",
            "share",
            "changedMs"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "pulses",
      "engine",
      "canaries"
    ],
    "additionalProperties": false
  },
  "get recalls": {
    "type": "object",
    "properties": {
      "recalls": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "id": {
              "type": "string"
            },
            "timeMs": {
              "type": "number"
            },
            "requestId": {
              "type": "string"
            },
            "userId": {
              "type": "string"
            },
            "source": {
              "type": "string",
              "enum": [
                "served",
                "console"
              ]
            },
            "reason": {
              "type": "string",
              "enum": [
                "request",
                "user",
                "draw",
                "share"
              ]
            },
            "code": {
              "type": "string"
            },
            "itemCount": {
              "type": "number"
            },
            "promptTokens": {
              "type": "number"
            },
            "computedTokens": {
              "type": "number"
            },
            "totalUs": {
              "type": "number"
            },
            "catalogueSequence": {
              "type": "number"
            },
            "scene": {
              "type": "object",
              "additionalProperties": {
                "type": "string"
              }
            },
            "versions": {
              "type": "object",
              "properties": {
                "model": {
                  "type": "string"
                },
                "catalogue": {
                  "type": "string"
                },
                "promptTemplate": {
                  "type": "string"
                },
                "catalogueSequence": {
                  "type": "number"
                },
                "adapter": {
                  "type": "string"
                },
                "adapterName": {
                  "type": "string"
                },
                "node": {
                  "type": "string"
                }
              },
              "required": [
                "model",
                "catalogue",
                "promptTemplate",
                "catalogueSequence",
                "adapter",
                "adapterName",
                "node"
              ],
              "additionalProperties": false
            },
            "node": {
              "type": "string"
            }
          },
          "required": [
            "catalogueSequence",
            "code",
            "computedTokens",
            "id",
            "itemCount",
            "node",
            "promptTokens",
            "reason",
            "requestId",
            "scene",
            "source",
            "timeMs",
            "totalUs",
            "userId"
          ],
          "additionalProperties": false
        }
      },
      "unreached": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "node": {
              "type": "string"
            },
            "reason": {
              "type": "string"
            }
          },
          "required": [
            "node",
            "reason"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "recalls",
      "unreached"
    ],
    "additionalProperties": false
  },
  "post recalls": {
    "type": "object",
    "properties": {
      "id": {
        "type": "string"
      }
    },
    "required": [
      "id"
    ],
    "additionalProperties": false
  },
  "get recalls/{id}": {
    "type": "object",
    "properties": {
      "node": {
        "type": "string"
      },
      "isHere": {
        "type": "boolean"
      },
      "recall": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string"
          },
          "timeMs": {
            "type": "number"
          },
          "requestId": {
            "type": "string"
          },
          "source": {
            "type": "string",
            "enum": [
              "served",
              "console"
            ]
          },
          "reason": {
            "type": "string",
            "enum": [
              "request",
              "user",
              "draw",
              "share"
            ]
          },
          "request": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
              "eligibility": {
                "type": "string"
              },
              "resultCount": {
                "type": "number"
              },
              "search": {
                "type": "string",
                "enum": [
                  "certified",
                  "beam"
                ]
              },
              "widths": {
                "type": "array",
                "items": {
                  "type": "number"
                }
              },
              "rowBudget": {
                "type": "number"
              },
              "itemsPerSid": {
                "type": "number"
              },
              "itemPolicy": {
                "type": "object",
                "properties": {
                  "orderBy": {
                    "type": "string"
                  },
                  "diversity": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "properties": {
                        "attribute": {
                          "type": "string"
                        },
                        "maxItems": {
                          "type": "number"
                        }
                      },
                      "required": [
                        "attribute",
                        "maxItems"
                      ],
                      "additionalProperties": false
                    }
                  }
                },
                "required": [
                  "orderBy",
                  "diversity"
                ],
                "additionalProperties": false
              },
              "allowPartial": {
                "type": "boolean"
              },
              "frequencyCaps": {
                "type": "array",
                "items": {
                  "type": "object",
                  "properties": {
                    "action": {
                      "type": "string"
                    },
                    "maxBehaviours": {
                      "type": "number"
                    },
                    "windowSeconds": {
                      "type": "number"
                    },
                    "attribute": {
                      "type": "string"
                    }
                  },
                  "required": [
                    "action",
                    "maxBehaviours",
                    "windowSeconds",
                    "attribute"
                  ],
                  "additionalProperties": false
                }
              },
              "attributes": {
                "type": "array",
                "items": {
                  "type": "string"
                }
              },
              "relevance": {
                "type": "object",
                "properties": {
                  "query": {
                    "type": "string"
                  },
                  "minScore": {
                    "type": "number"
                  },
                  "weight": {
                    "type": "number"
                  },
                  "adapter": {
                    "type": "string"
                  }
                },
                "required": [
                  "query",
                  "adapter"
                ],
                "additionalProperties": false
              },
              "valuation": {
                "type": "object",
                "properties": {
                  "name": {
                    "type": "string"
                  },
                  "scoreWeight": {
                    "type": "number"
                  },
                  "weights": {
                    "type": "object",
                    "additionalProperties": {
                      "type": "number"
                    }
                  },
                  "floor": {
                    "type": "number"
                  }
                },
                "required": [
                  "name",
                  "weights"
                ],
                "additionalProperties": false
              },
              "explore": {
                "type": "object",
                "properties": {
                  "slots": {
                    "type": "number"
                  },
                  "share": {
                    "type": "number"
                  },
                  "temperature": {
                    "type": "number"
                  },
                  "seed": {
                    "type": "number"
                  }
                },
                "additionalProperties": false
              },
              "rank": {
                "type": "object",
                "properties": {
                  "items": {
                    "type": "number"
                  },
                  "adapter": {
                    "type": "string"
                  },
                  "valuation": {
                    "type": "object",
                    "properties": {
                      "name": {
                        "type": "string"
                      },
                      "scoreWeight": {
                        "type": "number"
                      },
                      "weights": {
                        "type": "object",
                        "additionalProperties": {
                          "type": "number"
                        }
                      },
                      "floor": {
                        "type": "number"
                      }
                    },
                    "required": [
                      "name",
                      "weights"
                    ],
                    "additionalProperties": false
                  }
                },
                "required": [
                  "adapter"
                ],
                "additionalProperties": false
              },
              "requestId": {
                "type": "string"
              },
              "catalogue": {
                "type": "string"
              },
              "adapter": {
                "type": "string"
              },
              "userId": {
                "type": "string"
              },
              "history": {
                "type": "array",
                "items": {
                  "type": "string"
                }
              },
              "profile": {
                "type": "object",
                "additionalProperties": {
                  "type": "string"
                }
              },
              "scene": {
                "type": "object",
                "additionalProperties": {
                  "type": "string"
                }
              },
              "scoreNorm": {
                "type": "string",
                "enum": [
                  "full",
                  "level",
                  "allowed"
                ]
              },
              "priority": {
                "type": "string",
                "enum": [
                  "high",
                  "normal",
                  "low"
                ]
              },
              "skipUnknownItems": {
                "type": "boolean"
              },
              "requiresHistory": {
                "type": "boolean"
              }
            },
            "required": [
              "itemsPerSid",
              "profile",
              "requestId",
              "resultCount",
              "scene",
              "skipUnknownItems",
              "widths"
            ]
          },
          "code": {
            "type": "string"
          },
          "message": {
            "type": "string"
          },
          "answer": {
            "type": "object",
            "properties": {
              "items": {
                "type": "array",
                "items": {
                  "type": "object",
                  "properties": {
                    "itemId": {
                      "type": "string"
                    },
                    "sid": {
                      "type": "array",
                      "items": {
                        "type": "number"
                      }
                    },
                    "score": {
                      "type": "number"
                    },
                    "rank": {
                      "type": "number"
                    },
                    "title": {
                      "type": "string"
                    },
                    "attributes": {
                      "type": "string"
                    },
                    "relevanceScore": {
                      "type": "number"
                    },
                    "value": {
                      "type": "object",
                      "properties": {
                        "value": {
                          "type": "number"
                        },
                        "terms": {
                          "type": "object",
                          "additionalProperties": {
                            "type": "number"
                          }
                        },
                        "pace": {
                          "type": "number"
                        },
                        "criticalBid": {
                          "type": "number"
                        }
                      },
                      "required": [
                        "value",
                        "terms",
                        "pace"
                      ],
                      "additionalProperties": false
                    },
                    "explored": {
                      "type": "boolean"
                    },
                    "propensity": {
                      "type": "number"
                    },
                    "ranking": {
                      "type": "object",
                      "properties": {
                        "heads": {
                          "type": "object",
                          "additionalProperties": {
                            "type": "number"
                          }
                        },
                        "value": {
                          "type": "object",
                          "properties": {
                            "value": {
                              "type": "number"
                            },
                            "terms": {
                              "type": "object",
                              "additionalProperties": {
                                "type": "number"
                              }
                            },
                            "pace": {
                              "type": "number"
                            },
                            "criticalBid": {
                              "type": "number"
                            }
                          },
                          "required": [
                            "value",
                            "terms",
                            "pace"
                          ],
                          "additionalProperties": false
                        },
                        "recallRank": {
                          "type": "number"
                        }
                      },
                      "required": [
                        "heads"
                      ],
                      "additionalProperties": false
                    }
                  },
                  "required": [
                    "itemId",
                    "sid",
                    "score",
                    "rank",
                    "title",
                    "attributes"
                  ],
                  "additionalProperties": false
                }
              },
              "short": {
                "type": "boolean"
              },
              "widthsUsed": {
                "type": "array",
                "items": {
                  "type": "number"
                }
              },
              "completeness": {
                "type": "string",
                "enum": [
                  "whole",
                  "narrowed",
                  "cut"
                ]
              },
              "itemPolicy": {
                "type": "object",
                "properties": {
                  "orderBy": {
                    "type": "string"
                  },
                  "diversity": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "properties": {
                        "attribute": {
                          "type": "string"
                        },
                        "maxItems": {
                          "type": "number"
                        }
                      },
                      "required": [
                        "attribute",
                        "maxItems"
                      ],
                      "additionalProperties": false
                    }
                  },
                  "itemsPerSid": {
                    "type": "number"
                  },
                  "resultCount": {
                    "type": "number"
                  },
                  "leftOutByDiversity": {
                    "type": "number"
                  }
                },
                "required": [
                  "diversity",
                  "itemsPerSid",
                  "leftOutByDiversity",
                  "orderBy",
                  "resultCount"
                ],
                "additionalProperties": false
              },
              "cappedItems": {
                "type": "number"
              },
              "unknownAttributes": {
                "type": "array",
                "items": {
                  "type": "string"
                }
              },
              "capsOutcome": {
                "type": "string",
                "enum": [
                  "exact",
                  "cut",
                  "unavailable"
                ]
              },
              "valuation": {
                "type": "object",
                "properties": {
                  "name": {
                    "type": "string"
                  },
                  "scoreWeight": {
                    "type": "number"
                  },
                  "weights": {
                    "type": "object",
                    "additionalProperties": {
                      "type": "number"
                    }
                  },
                  "floor": {
                    "type": "number"
                  },
                  "bestLeftOut": {
                    "type": "number"
                  },
                  "noPrices": {
                    "type": "string"
                  }
                },
                "required": [
                  "name",
                  "scoreWeight",
                  "weights",
                  "noPrices"
                ],
                "additionalProperties": false
              },
              "exploration": {
                "type": "object",
                "properties": {
                  "slots": {
                    "type": "number"
                  },
                  "temperature": {
                    "type": "number"
                  },
                  "seed": {
                    "type": "number"
                  },
                  "noPropensities": {
                    "type": "string"
                  }
                },
                "required": [
                  "slots",
                  "temperature",
                  "seed",
                  "noPropensities"
                ],
                "additionalProperties": false
              },
              "ranking": {
                "type": "object",
                "properties": {
                  "adapter": {
                    "type": "string"
                  },
                  "adapterName": {
                    "type": "string"
                  },
                  "items": {
                    "type": "number"
                  },
                  "leftOut": {
                    "type": "number"
                  },
                  "heads": {
                    "type": "array",
                    "items": {
                      "type": "string"
                    }
                  },
                  "valuation": {
                    "type": "object",
                    "properties": {
                      "name": {
                        "type": "string"
                      },
                      "scoreWeight": {
                        "type": "number"
                      },
                      "weights": {
                        "type": "object",
                        "additionalProperties": {
                          "type": "number"
                        }
                      },
                      "floor": {
                        "type": "number"
                      },
                      "bestLeftOut": {
                        "type": "number"
                      },
                      "noPrices": {
                        "type": "string"
                      }
                    },
                    "required": [
                      "name",
                      "scoreWeight",
                      "weights",
                      "noPrices"
                    ],
                    "additionalProperties": false
                  }
                },
                "required": [
                  "adapter",
                  "adapterName",
                  "items",
                  "leftOut",
                  "heads"
                ],
                "additionalProperties": false
              },
              "arm": {
                "type": "string",
                "enum": [
                  "base",
                  "active",
                  "canary",
                  "named"
                ]
              },
              "historyItems": {
                "type": "number"
              },
              "trimmedItems": {
                "type": "number"
              },
              "skippedItems": {
                "type": "number"
              },
              "fallback": {
                "type": "string",
                "enum": [
                  "",
                  "no-features",
                  "no-history",
                  "popular"
                ]
              },
              "promptTokens": {
                "type": "number"
              },
              "prefixReusedTokens": {
                "type": "number"
              },
              "kv": {
                "type": "object",
                "properties": {
                  "tokensByTier": {
                    "type": "object",
                    "additionalProperties": {
                      "type": "number"
                    }
                  },
                  "sharedTokens": {
                    "type": "number"
                  },
                  "computedTokens": {
                    "type": "number"
                  },
                  "savedTokens": {
                    "type": "number"
                  },
                  "waitUs": {
                    "type": "number"
                  },
                  "lossy": {
                    "type": "boolean"
                  },
                  "inheritedTokens": {
                    "type": "number"
                  },
                  "versionsBack": {
                    "type": "number"
                  }
                },
                "required": [
                  "tokensByTier",
                  "sharedTokens",
                  "computedTokens",
                  "savedTokens",
                  "waitUs",
                  "lossy",
                  "inheritedTokens",
                  "versionsBack"
                ],
                "additionalProperties": false
              },
              "versions": {
                "type": "object",
                "properties": {
                  "model": {
                    "type": "string"
                  },
                  "catalogue": {
                    "type": "string"
                  },
                  "promptTemplate": {
                    "type": "string"
                  },
                  "catalogueSequence": {
                    "type": "number"
                  },
                  "adapter": {
                    "type": "string"
                  },
                  "adapterName": {
                    "type": "string"
                  },
                  "node": {
                    "type": "string"
                  }
                },
                "required": [
                  "model",
                  "catalogue",
                  "promptTemplate",
                  "catalogueSequence",
                  "adapter",
                  "adapterName",
                  "node"
                ],
                "additionalProperties": false
              },
              "timings": {
                "type": "object",
                "properties": {
                  "featuresUs": {
                    "type": "number"
                  },
                  "promptUs": {
                    "type": "number"
                  },
                  "queueUs": {
                    "type": "number"
                  },
                  "prefillUs": {
                    "type": "number"
                  },
                  "decodeUs": {
                    "type": "number"
                  },
                  "headUs": {
                    "type": "number"
                  },
                  "selectUs": {
                    "type": "number"
                  },
                  "exportUs": {
                    "type": "number"
                  },
                  "totalUs": {
                    "type": "number"
                  },
                  "planUs": {
                    "type": "number"
                  },
                  "projectionsUs": {
                    "type": "number"
                  },
                  "attentionUs": {
                    "type": "number"
                  },
                  "forkUs": {
                    "type": "number"
                  }
                },
                "required": [
                  "featuresUs",
                  "promptUs",
                  "queueUs",
                  "prefillUs",
                  "decodeUs",
                  "headUs",
                  "selectUs",
                  "exportUs",
                  "totalUs",
                  "planUs",
                  "projectionsUs",
                  "attentionUs",
                  "forkUs"
                ],
                "additionalProperties": false
              },
              "search": {
                "type": "string",
                "enum": [
                  "certified",
                  "beam"
                ]
              },
              "certified": {
                "type": "boolean"
              },
              "gap": {
                "type": "number"
              },
              "rows": {
                "type": "number"
              },
              "runnerUp": {
                "type": "object",
                "properties": {
                  "item": {
                    "type": "string"
                  },
                  "bid": {
                    "type": "number"
                  }
                },
                "required": [
                  "item",
                  "bid"
                ],
                "additionalProperties": false
              },
              "history": {
                "type": "array",
                "items": {
                  "type": "object",
                  "properties": {
                    "itemId": {
                      "type": "string"
                    },
                    "sid": {
                      "type": "array",
                      "items": {
                        "type": "number"
                      }
                    },
                    "action": {
                      "type": "string"
                    },
                    "time": {
                      "type": "number"
                    },
                    "tokens": {
                      "type": "array",
                      "minItems": 2,
                      "maxItems": 2,
                      "items": {
                        "anyOf": [
                          {
                            "type": "number",
                            "title": "first"
                          },
                          {
                            "type": "number",
                            "title": "end"
                          }
                        ]
                      }
                    }
                  },
                  "required": [
                    "itemId",
                    "sid",
                    "action",
                    "time"
                  ],
                  "additionalProperties": false
                }
              },
              "profile": {
                "type": "object",
                "additionalProperties": {
                  "type": "string"
                }
              },
              "tree": {
                "type": "array",
                "items": {
                  "type": "object",
                  "properties": {
                    "step": {
                      "type": "number"
                    },
                    "parent": {
                      "type": "number"
                    },
                    "code": {
                      "type": "number"
                    },
                    "score": {
                      "type": "number"
                    },
                    "goesOn": {
                      "type": "boolean"
                    },
                    "endsHere": {
                      "type": "boolean"
                    },
                    "items": {
                      "type": "number"
                    },
                    "atLeast": {
                      "type": "boolean"
                    },
                    "provedOut": {
                      "type": "boolean"
                    }
                  },
                  "required": [
                    "step",
                    "parent",
                    "code",
                    "score",
                    "goesOn",
                    "endsHere",
                    "items",
                    "atLeast",
                    "provedOut"
                  ],
                  "additionalProperties": false
                }
              }
            },
            "required": [
              "cappedItems",
              "certified",
              "completeness",
              "fallback",
              "history",
              "historyItems",
              "itemPolicy",
              "items",
              "kv",
              "prefixReusedTokens",
              "profile",
              "promptTokens",
              "rows",
              "search",
              "short",
              "skippedItems",
              "timings",
              "tree",
              "trimmedItems",
              "unknownAttributes",
              "versions",
              "widthsUsed"
            ],
            "additionalProperties": false
          }
        },
        "required": [
          "id",
          "timeMs",
          "requestId",
          "source",
          "reason",
          "request",
          "code",
          "message"
        ],
        "additionalProperties": false
      },
      "described": {
        "type": "object",
        "additionalProperties": {
          "type": "object",
          "properties": {
            "itemId": {
              "type": "string"
            },
            "title": {
              "type": "string"
            },
            "attributes": {
              "type": "string"
            },
            "sid": {
              "type": "array",
              "items": {
                "type": "number"
              }
            }
          },
          "required": [
            "attributes",
            "itemId",
            "sid",
            "title"
          ],
          "additionalProperties": false
        }
      },
      "describedAt": {
        "type": "number",
        "nullable": true
      },
      "changedSince": {
        "type": "array",
        "items": {
          "type": "string"
        }
      },
      "notes": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "id": {
              "type": "string"
            },
            "recallId": {
              "type": "string"
            },
            "timeMs": {
              "type": "number"
            },
            "author": {
              "type": "string"
            },
            "text": {
              "type": "string"
            }
          },
          "required": [
            "id",
            "recallId",
            "timeMs",
            "author",
            "text"
          ],
          "additionalProperties": false
        }
      },
      "goneVersions": {
        "type": "array",
        "items": {
          "type": "string"
        }
      }
    },
    "required": [
      "node",
      "isHere",
      "recall",
      "described",
      "describedAt",
      "changedSince",
      "notes",
      "goneVersions"
    ],
    "additionalProperties": false
  },
  "post recalls/{id}/explain": {
    "type": "object",
    "properties": {
      "neededBid": {
        "type": "number"
      },
      "requestId": {
        "type": "string"
      },
      "historyItems": {
        "type": "number"
      },
      "trimmedItems": {
        "type": "number"
      },
      "skippedItems": {
        "type": "number"
      },
      "fallback": {
        "type": "string",
        "enum": [
          "",
          "no-features",
          "no-history",
          "popular"
        ]
      },
      "promptTokens": {
        "type": "number"
      },
      "prefixReusedTokens": {
        "type": "number"
      },
      "kv": {
        "type": "object",
        "properties": {
          "tokensByTier": {
            "type": "object",
            "additionalProperties": {
              "type": "number"
            }
          },
          "sharedTokens": {
            "type": "number"
          },
          "computedTokens": {
            "type": "number"
          },
          "savedTokens": {
            "type": "number"
          },
          "waitUs": {
            "type": "number"
          },
          "lossy": {
            "type": "boolean"
          },
          "inheritedTokens": {
            "type": "number"
          },
          "versionsBack": {
            "type": "number"
          }
        },
        "required": [
          "tokensByTier",
          "sharedTokens",
          "computedTokens",
          "savedTokens",
          "waitUs",
          "lossy",
          "inheritedTokens",
          "versionsBack"
        ],
        "additionalProperties": false
      },
      "versions": {
        "type": "object",
        "properties": {
          "model": {
            "type": "string"
          },
          "catalogue": {
            "type": "string"
          },
          "promptTemplate": {
            "type": "string"
          },
          "catalogueSequence": {
            "type": "number"
          },
          "adapter": {
            "type": "string"
          },
          "adapterName": {
            "type": "string"
          },
          "node": {
            "type": "string"
          }
        },
        "required": [
          "model",
          "catalogue",
          "promptTemplate",
          "catalogueSequence",
          "adapter",
          "adapterName",
          "node"
        ],
        "additionalProperties": false
      },
      "timings": {
        "type": "object",
        "properties": {
          "featuresUs": {
            "type": "number"
          },
          "promptUs": {
            "type": "number"
          },
          "queueUs": {
            "type": "number"
          },
          "prefillUs": {
            "type": "number"
          },
          "decodeUs": {
            "type": "number"
          },
          "headUs": {
            "type": "number"
          },
          "selectUs": {
            "type": "number"
          },
          "exportUs": {
            "type": "number"
          },
          "totalUs": {
            "type": "number"
          },
          "planUs": {
            "type": "number"
          },
          "projectionsUs": {
            "type": "number"
          },
          "attentionUs": {
            "type": "number"
          },
          "forkUs": {
            "type": "number"
          }
        },
        "required": [
          "featuresUs",
          "promptUs",
          "queueUs",
          "prefillUs",
          "decodeUs",
          "headUs",
          "selectUs",
          "exportUs",
          "totalUs",
          "planUs",
          "projectionsUs",
          "attentionUs",
          "forkUs"
        ],
        "additionalProperties": false
      },
      "itemId": {
        "type": "string"
      },
      "sid": {
        "type": "array",
        "items": {
          "type": "number"
        }
      },
      "verdict": {
        "type": "string",
        "enum": [
          "returned",
          "pruned",
          "behind-sid-cap",
          "behind-results",
          "not-eligible",
          "not-live",
          "not-in-catalogue",
          "behind-diversity-cap",
          "no-value",
          "below-floor",
          "behind-ranked"
        ]
      },
      "rank": {
        "type": "number"
      },
      "step": {
        "type": "number"
      },
      "score": {
        "type": "number"
      },
      "cutScore": {
        "type": "number"
      },
      "clause": {
        "type": "string"
      },
      "attribute": {
        "type": "string"
      },
      "notLiveSince": {
        "type": "number"
      },
      "exactRank": {
        "type": "number"
      },
      "rankAtLeast": {
        "type": "number"
      },
      "value": {
        "type": "object",
        "properties": {
          "value": {
            "type": "number"
          },
          "terms": {
            "type": "object",
            "additionalProperties": {
              "type": "number"
            }
          },
          "pace": {
            "type": "number"
          },
          "criticalBid": {
            "type": "number"
          }
        },
        "required": [
          "value",
          "terms",
          "pace"
        ],
        "additionalProperties": false
      },
      "excludedItems": {
        "type": "number"
      },
      "ranking": {
        "type": "object",
        "properties": {
          "heads": {
            "type": "object",
            "additionalProperties": {
              "type": "number"
            }
          },
          "value": {
            "type": "object",
            "properties": {
              "value": {
                "type": "number"
              },
              "terms": {
                "type": "object",
                "additionalProperties": {
                  "type": "number"
                }
              },
              "pace": {
                "type": "number"
              },
              "criticalBid": {
                "type": "number"
              }
            },
            "required": [
              "value",
              "terms",
              "pace"
            ],
            "additionalProperties": false
          },
          "recallRank": {
            "type": "number"
          }
        },
        "required": [
          "heads"
        ],
        "additionalProperties": false
      },
      "rankedItems": {
        "type": "number"
      },
      "widthsUsed": {
        "type": "array",
        "items": {
          "type": "number"
        }
      }
    },
    "required": [
      "fallback",
      "historyItems",
      "itemId",
      "kv",
      "prefixReusedTokens",
      "promptTokens",
      "requestId",
      "sid",
      "skippedItems",
      "timings",
      "trimmedItems",
      "verdict",
      "versions",
      "widthsUsed"
    ],
    "additionalProperties": false
  },
  "post recalls/{id}/notes": {
    "type": "object",
    "properties": {
      "id": {
        "type": "string"
      },
      "recallId": {
        "type": "string"
      },
      "timeMs": {
        "type": "number"
      },
      "author": {
        "type": "string"
      },
      "text": {
        "type": "string"
      }
    },
    "required": [
      "id",
      "recallId",
      "timeMs",
      "author",
      "text"
    ],
    "additionalProperties": false
  },
  "delete recalls/{id}/notes/{note}": {
    "type": "object",
    "properties": {
      "removed": {
        "type": "boolean"
      }
    },
    "required": [
      "removed"
    ],
    "additionalProperties": false
  },
  "post relevance": {
    "type": "object",
    "properties": {
      "model": {
        "type": "string"
      },
      "template": {
        "type": "string"
      },
      "adapter": {
        "type": "string"
      },
      "promptTokens": {
        "type": "number"
      },
      "computedTokens": {
        "type": "number"
      },
      "totalUs": {
        "type": "number"
      },
      "documents": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "itemId": {
              "type": "string"
            },
            "text": {
              "type": "string"
            },
            "score": {
              "type": "number",
              "nullable": true
            },
            "promptTokens": {
              "type": "number"
            },
            "documentTokens": {
              "type": "number"
            },
            "cutTokens": {
              "type": "number"
            },
            "error": {
              "type": "object",
              "properties": {
                "code": {
                  "type": "string"
                },
                "message": {
                  "type": "string"
                }
              },
              "required": [
                "code",
                "message"
              ],
              "additionalProperties": false,
              "nullable": true
            }
          },
          "required": [
            "itemId",
            "text",
            "score",
            "promptTokens",
            "documentTokens",
            "cutTokens",
            "error"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "model",
      "template",
      "adapter",
      "promptTokens",
      "computedTokens",
      "totalUs",
      "documents"
    ],
    "additionalProperties": false
  },
  "get users": {
    "type": "object",
    "properties": {
      "userIds": {
        "type": "array",
        "items": {
          "type": "string"
        }
      }
    },
    "required": [
      "userIds"
    ],
    "additionalProperties": false
  },
  "get users/{id}": {
    "type": "object",
    "properties": {
      "userId": {
        "type": "string"
      },
      "profile": {
        "type": "object",
        "additionalProperties": {
          "type": "string"
        }
      },
      "behaviours": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "itemId": {
              "type": "string"
            },
            "action": {
              "type": "string"
            },
            "time": {
              "type": "number"
            },
            "title": {
              "type": "string"
            },
            "sid": {
              "type": "array",
              "items": {
                "type": "number"
              }
            }
          },
          "required": [
            "itemId",
            "action",
            "time",
            "title",
            "sid"
          ],
          "additionalProperties": false
        }
      },
      "chains": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "version": {
              "type": "string"
            },
            "isRetired": {
              "type": "boolean"
            },
            "tokens": {
              "type": "number"
            },
            "deviceTokens": {
              "type": "number"
            },
            "hostTokens": {
              "type": "number"
            },
            "diskTokens": {
              "type": "number"
            },
            "durableTokens": {
              "type": "number"
            },
            "versionsBack": {
              "type": "number"
            }
          },
          "required": [
            "version",
            "isRetired",
            "tokens",
            "deviceTokens",
            "hostTokens",
            "diskTokens",
            "durableTokens",
            "versionsBack"
          ],
          "additionalProperties": false
        }
      },
      "node": {
        "type": "string"
      },
      "fault": {
        "type": "string"
      }
    },
    "required": [
      "userId",
      "profile",
      "behaviours",
      "chains",
      "node",
      "fault"
    ],
    "additionalProperties": false
  },
  "delete users/{id}": {
    "type": "object",
    "properties": {
      "known": {
        "type": "boolean"
      },
      "recalls": {
        "type": "number"
      }
    },
    "required": [
      "known",
      "recalls"
    ],
    "additionalProperties": false
  },
  "get items": {
    "type": "object",
    "properties": {
      "items": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "itemId": {
              "type": "string"
            },
            "title": {
              "type": "string"
            },
            "attributes": {
              "type": "string"
            },
            "sid": {
              "type": "array",
              "items": {
                "type": "number"
              }
            }
          },
          "required": [
            "attributes",
            "itemId",
            "sid",
            "title"
          ],
          "additionalProperties": false
        }
      },
      "isWhole": {
        "type": "boolean"
      }
    },
    "required": [
      "items",
      "isWhole"
    ],
    "additionalProperties": false
  },
  "get catalogue": {
    "type": "object",
    "properties": {
      "sequence": {
        "type": "number"
      },
      "liveItemCount": {
        "type": "number"
      },
      "changedItemCount": {
        "type": "number"
      },
      "bundleUuid": {
        "type": "string"
      },
      "generations": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "firstSequence": {
              "type": "number"
            },
            "lastSequence": {
              "type": "number"
            },
            "logBytes": {
              "type": "number"
            },
            "baseDigest": {
              "type": "string"
            }
          },
          "required": [
            "firstSequence",
            "lastSequence",
            "logBytes",
            "baseDigest"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "sequence",
      "liveItemCount",
      "changedItemCount",
      "bundleUuid",
      "generations"
    ],
    "additionalProperties": false
  },
  "get catalogue/changes": {
    "type": "object",
    "properties": {
      "changes": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "timeMs": {
              "type": "number"
            },
            "catalogue": {
              "type": "string"
            },
            "sequence": {
              "type": "number"
            },
            "changeCount": {
              "type": "number"
            },
            "ops": {
              "type": "object",
              "additionalProperties": {
                "type": "number"
              }
            },
            "told": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "op": {
                    "type": "string"
                  },
                  "itemId": {
                    "type": "string"
                  }
                },
                "required": [
                  "op",
                  "itemId"
                ],
                "additionalProperties": false
              }
            },
            "source": {
              "type": "string"
            }
          },
          "required": [
            "timeMs",
            "catalogue",
            "sequence",
            "changeCount",
            "ops",
            "told",
            "source"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "changes"
    ],
    "additionalProperties": false
  },
  "get catalogue/names": {
    "type": "object",
    "properties": {
      "attribute": {
        "type": "string"
      },
      "names": {
        "type": "object",
        "additionalProperties": {
          "type": "object",
          "properties": {
            "value": {
              "type": "string"
            },
            "share": {
              "type": "number"
            }
          },
          "required": [
            "value",
            "share"
          ],
          "additionalProperties": false
        }
      },
      "isWhole": {
        "type": "boolean"
      }
    },
    "required": [
      "attribute",
      "names",
      "isWhole"
    ],
    "additionalProperties": false
  },
  "get items/{id}/place": {
    "type": "object",
    "properties": {
      "itemId": {
        "type": "string"
      },
      "title": {
        "type": "string"
      },
      "attributes": {
        "type": "string"
      },
      "sid": {
        "type": "array",
        "items": {
          "type": "number"
        }
      },
      "neighbours": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "itemId": {
              "type": "string"
            },
            "title": {
              "type": "string"
            },
            "sid": {
              "type": "array",
              "items": {
                "type": "number"
              }
            },
            "sharedLevels": {
              "type": "number"
            }
          },
          "required": [
            "itemId",
            "sharedLevels",
            "sid",
            "title"
          ],
          "additionalProperties": false
        }
      },
      "isWhole": {
        "type": "boolean"
      }
    },
    "required": [
      "attributes",
      "isWhole",
      "itemId",
      "neighbours",
      "sid",
      "title"
    ],
    "additionalProperties": false
  },
  "post catalogue/landing": {
    "type": "object",
    "properties": {
      "codes": {
        "type": "array",
        "items": {
          "type": "number"
        }
      },
      "distances": {
        "type": "array",
        "items": {
          "type": "number"
        }
      },
      "sid": {
        "type": "array",
        "items": {
          "type": "number"
        }
      },
      "neighbours": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "itemId": {
              "type": "string"
            },
            "title": {
              "type": "string"
            },
            "sid": {
              "type": "array",
              "items": {
                "type": "number"
              }
            },
            "sharedLevels": {
              "type": "number"
            }
          },
          "required": [
            "itemId",
            "title",
            "sid",
            "sharedLevels"
          ],
          "additionalProperties": false
        }
      },
      "codebooks": {
        "type": "string"
      },
      "sequence": {
        "type": "number"
      }
    },
    "required": [
      "codes",
      "distances",
      "sid",
      "neighbours",
      "codebooks",
      "sequence"
    ],
    "additionalProperties": false
  },
  "post catalogue/roll-back": {
    "type": "object",
    "properties": {
      "sequence": {
        "type": "number"
      }
    },
    "required": [
      "sequence"
    ],
    "additionalProperties": false
  },
  "post catalogue/imports": {
    "type": "object",
    "properties": {
      "id": {
        "type": "string"
      }
    },
    "required": [
      "id"
    ],
    "additionalProperties": false
  },
  "post catalogue/imports/{id}/lines": {
    "type": "object",
    "properties": {
      "lineCount": {
        "type": "number"
      },
      "changeCount": {
        "type": "number"
      }
    },
    "required": [
      "lineCount",
      "changeCount"
    ],
    "additionalProperties": false
  },
  "post catalogue/imports/{id}/apply": {
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "sequence": {
        "type": "number"
      },
      "lineCount": {
        "type": "number"
      },
      "changeCount": {
        "type": "number"
      }
    },
    "required": [
      "changeCount",
      "lineCount",
      "sequence"
    ]
  },
  "delete catalogue/imports/{id}": {
    "type": "object",
    "properties": {
      "removed": {
        "type": "boolean"
      }
    },
    "required": [
      "removed"
    ],
    "additionalProperties": false
  },
  "get adapters": {
    "type": "object",
    "properties": {
      "isKept": {
        "type": "boolean"
      },
      "defaultName": {
        "type": "string"
      },
      "versions": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "name": {
              "type": "string"
            },
            "digest": {
              "type": "string"
            },
            "state": {
              "type": "string",
              "enum": [
                "received",
                "validated",
                "canary",
                "active",
                "retired",
                "rejected"
              ]
            },
            "reason": {
              "type": "string"
            },
            "remark": {
              "type": "string"
            },
            "pushedBy": {
              "type": "string"
            },
            "holder": {
              "type": "string"
            },
            "learnedUntilMs": {
              "type": "number"
            },
            "leaseUntilMs": {
              "type": "number"
            },
            "receivedMs": {
              "type": "number"
            },
            "changedMs": {
              "type": "number"
            },
            "isPinned": {
              "type": "boolean"
            },
            "isLoaded": {
              "type": "boolean"
            },
            "isPredecessor": {
              "type": "boolean"
            },
            "arenaBytes": {
              "type": "number"
            },
            "fileBytes": {
              "type": "number"
            },
            "share": {
              "type": "number"
            },
            "facts": {
              "type": "object",
              "properties": {
                "rankMax": {
                  "type": "number"
                },
                "targetCount": {
                  "type": "number"
                },
                "replacedRows": {
                  "type": "number"
                },
                "largestNorm": {
                  "type": "number"
                },
                "heads": {
                  "type": "array",
                  "items": {
                    "type": "string"
                  }
                },
                "isActivated": {
                  "type": "boolean"
                }
              },
              "required": [
                "rankMax",
                "targetCount",
                "replacedRows",
                "largestNorm",
                "heads",
                "isActivated"
              ],
              "additionalProperties": false,
              "nullable": true
            },
            "report": {
              "type": "object",
              "properties": {
                "summary": {
                  "type": "object",
                  "properties": {
                    "canary": {
                      "type": "object",
                      "properties": {
                        "answers": {
                          "type": "number"
                        },
                        "failures": {
                          "type": "number"
                        },
                        "emptyAnswers": {
                          "type": "number"
                        },
                        "shortAnswers": {
                          "type": "number"
                        },
                        "latencyP50Ms": {
                          "type": "number"
                        },
                        "latencyP95Ms": {
                          "type": "number"
                        },
                        "clicks": {
                          "type": "number"
                        },
                        "clickScore": {
                          "type": "number"
                        },
                        "clickRate": {
                          "type": "object",
                          "properties": {
                            "userAnswers": {
                              "type": "number"
                            },
                            "clickedAnswers": {
                              "type": "number"
                            },
                            "rate": {
                              "type": "number"
                            },
                            "low": {
                              "type": "number"
                            },
                            "high": {
                              "type": "number"
                            }
                          },
                          "required": [
                            "userAnswers",
                            "clickedAnswers",
                            "rate",
                            "low",
                            "high"
                          ],
                          "additionalProperties": false
                        }
                      },
                      "required": [
                        "answers",
                        "failures",
                        "emptyAnswers",
                        "shortAnswers",
                        "latencyP50Ms",
                        "latencyP95Ms",
                        "clicks",
                        "clickScore",
                        "clickRate"
                      ],
                      "additionalProperties": false
                    },
                    "active": {
                      "type": "object",
                      "properties": {
                        "answers": {
                          "type": "number"
                        },
                        "failures": {
                          "type": "number"
                        },
                        "emptyAnswers": {
                          "type": "number"
                        },
                        "shortAnswers": {
                          "type": "number"
                        },
                        "latencyP50Ms": {
                          "type": "number"
                        },
                        "latencyP95Ms": {
                          "type": "number"
                        },
                        "clicks": {
                          "type": "number"
                        },
                        "clickScore": {
                          "type": "number"
                        },
                        "clickRate": {
                          "type": "object",
                          "properties": {
                            "userAnswers": {
                              "type": "number"
                            },
                            "clickedAnswers": {
                              "type": "number"
                            },
                            "rate": {
                              "type": "number"
                            },
                            "low": {
                              "type": "number"
                            },
                            "high": {
                              "type": "number"
                            }
                          },
                          "required": [
                            "userAnswers",
                            "clickedAnswers",
                            "rate",
                            "low",
                            "high"
                          ],
                          "additionalProperties": false
                        }
                      },
                      "required": [
                        "answers",
                        "failures",
                        "emptyAnswers",
                        "shortAnswers",
                        "latencyP50Ms",
                        "latencyP95Ms",
                        "clicks",
                        "clickScore",
                        "clickRate"
                      ],
                      "additionalProperties": false
                    },
                    "shadowed": {
                      "type": "number"
                    },
                    "overlap": {
                      "type": "number"
                    },
                    "clickVerdict": {
                      "type": "string"
                    }
                  },
                  "required": [
                    "canary",
                    "active",
                    "shadowed",
                    "overlap",
                    "clickVerdict"
                  ],
                  "additionalProperties": false
                },
                "verdicts": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "rule": {
                        "type": "string",
                        "enum": [
                          "failures",
                          "emptyAnswers",
                          "shortAnswers",
                          "overlap",
                          "latency",
                          "clicks",
                          "clickRate"
                        ]
                      },
                      "bound": {
                        "type": "string",
                        "enum": [
                          "most",
                          "least"
                        ]
                      },
                      "limit": {
                        "type": "number"
                      },
                      "observed": {
                        "type": "number"
                      },
                      "unit": {
                        "type": "string",
                        "enum": [
                          "%",
                          "ms",
                          "nats"
                        ]
                      },
                      "samples": {
                        "type": "number"
                      },
                      "samplesMin": {
                        "type": "number"
                      },
                      "isBroken": {
                        "type": "boolean"
                      },
                      "message": {
                        "type": "string"
                      }
                    },
                    "required": [
                      "rule",
                      "bound",
                      "limit",
                      "observed",
                      "unit",
                      "samples",
                      "samplesMin",
                      "isBroken",
                      "message"
                    ],
                    "additionalProperties": false
                  }
                },
                "moves": {
                  "type": "object",
                  "properties": {
                    "gained": {
                      "type": "array",
                      "items": {
                        "type": "object",
                        "properties": {
                          "itemId": {
                            "type": "string"
                          },
                          "recalls": {
                            "type": "number"
                          }
                        },
                        "required": [
                          "itemId",
                          "recalls"
                        ],
                        "additionalProperties": false
                      }
                    },
                    "lost": {
                      "type": "array",
                      "items": {
                        "type": "object",
                        "properties": {
                          "itemId": {
                            "type": "string"
                          },
                          "recalls": {
                            "type": "number"
                          }
                        },
                        "required": [
                          "itemId",
                          "recalls"
                        ],
                        "additionalProperties": false
                      }
                    }
                  },
                  "required": [
                    "gained",
                    "lost"
                  ],
                  "additionalProperties": false
                }
              },
              "required": [
                "summary",
                "verdicts",
                "moves"
              ],
              "additionalProperties": false
            }
          },
          "required": [
            "name",
            "digest",
            "state",
            "reason",
            "remark",
            "pushedBy",
            "holder",
            "learnedUntilMs",
            "leaseUntilMs",
            "receivedMs",
            "changedMs",
            "isPinned",
            "isLoaded",
            "isPredecessor",
            "arenaBytes",
            "fileBytes",
            "share",
            "facts"
          ],
          "additionalProperties": false
        }
      },
      "titles": {
        "type": "object",
        "additionalProperties": {
          "type": "string"
        }
      },
      "arena": {
        "type": "object",
        "properties": {
          "usedBytes": {
            "type": "number"
          },
          "maxBytes": {
            "type": "number"
          }
        },
        "required": [
          "usedBytes",
          "maxBytes"
        ],
        "additionalProperties": false
      },
      "disk": {
        "type": "object",
        "properties": {
          "usedBytes": {
            "type": "number"
          },
          "maxBytes": {
            "type": "number"
          }
        },
        "required": [
          "usedBytes",
          "maxBytes"
        ],
        "additionalProperties": false
      }
    },
    "required": [
      "isKept",
      "defaultName",
      "versions",
      "titles",
      "arena",
      "disk"
    ],
    "additionalProperties": false
  },
  "get adapters/changes": {
    "type": "object",
    "properties": {
      "changes": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "timeMs": {
              "type": "number"
            },
            "action": {
              "type": "string"
            },
            "actor": {
              "type": "string"
            },
            "role": {
              "type": "string"
            },
            "name": {
              "type": "string"
            },
            "digest": {
              "type": "string"
            },
            "outcome": {
              "type": "string"
            },
            "detail": {
              "type": "string"
            }
          },
          "required": [
            "timeMs",
            "action",
            "actor",
            "role",
            "name",
            "digest",
            "outcome",
            "detail"
          ],
          "additionalProperties": false
        }
      },
      "isWhole": {
        "type": "boolean"
      }
    },
    "required": [
      "changes",
      "isWhole"
    ],
    "additionalProperties": false
  },
  "post adapters/{name}/{digest}/activate": {
    "type": "object",
    "properties": {
      "warmedUsers": {
        "type": "number"
      },
      "goldenOverlap": {
        "type": "number"
      }
    },
    "required": [
      "warmedUsers"
    ],
    "additionalProperties": false
  },
  "post adapters/{name}/roll-back": {
    "type": "object",
    "properties": {
      "serves": {
        "type": "string"
      },
      "replaced": {
        "type": "string"
      }
    },
    "required": [
      "serves",
      "replaced"
    ],
    "additionalProperties": false
  },
  "post adapters/{name}/{digest}/pin": {
    "type": "object",
    "properties": {
      "isPinned": {
        "type": "boolean"
      }
    },
    "required": [
      "isPinned"
    ],
    "additionalProperties": false
  },
  "delete adapters/{name}/{digest}/pin": {
    "type": "object",
    "properties": {
      "isPinned": {
        "type": "boolean"
      }
    },
    "required": [
      "isPinned"
    ],
    "additionalProperties": false
  },
  "delete adapters/{name}/{digest}": {
    "type": "object",
    "properties": {
      "removed": {
        "type": "boolean"
      }
    },
    "required": [
      "removed"
    ],
    "additionalProperties": false
  },
  "get comparisons": {
    "type": "object",
    "properties": {
      "comparisons": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "id": {
              "type": "string"
            },
            "timeMs": {
              "type": "number"
            },
            "author": {
              "type": "string"
            },
            "title": {
              "type": "string"
            },
            "userCount": {
              "type": "number"
            },
            "overlap": {
              "type": "number"
            }
          },
          "required": [
            "id",
            "timeMs",
            "author",
            "title",
            "userCount",
            "overlap"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "comparisons"
    ],
    "additionalProperties": false
  },
  "get comparisons/{id}": {
    "type": "object",
    "properties": {
      "id": {
        "type": "string"
      },
      "timeMs": {
        "type": "number"
      },
      "author": {
        "type": "string"
      },
      "title": {
        "type": "string"
      },
      "userCount": {
        "type": "number"
      },
      "overlap": {
        "type": "number"
      },
      "sides": {
        "type": "object",
        "properties": {
          "left": {
            "type": "object",
            "additionalProperties": {}
          },
          "right": {
            "type": "object",
            "additionalProperties": {}
          }
        },
        "required": [
          "left",
          "right"
        ],
        "additionalProperties": false
      },
      "lines": {
        "type": "array",
        "items": {
          "anyOf": [
            {
              "type": "object",
              "properties": {
                "kind": {
                  "type": "string",
                  "enum": [
                    "progress"
                  ]
                },
                "done": {
                  "type": "number"
                },
                "total": {
                  "type": "number"
                }
              },
              "required": [
                "kind",
                "done",
                "total"
              ],
              "additionalProperties": false
            },
            {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "items": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "itemId": {
                        "type": "string"
                      },
                      "title": {
                        "type": "string"
                      },
                      "leftRank": {
                        "type": "number"
                      },
                      "rightRank": {
                        "type": "number"
                      },
                      "leftScore": {
                        "type": "number"
                      },
                      "rightScore": {
                        "type": "number"
                      }
                    },
                    "required": [
                      "itemId",
                      "title"
                    ],
                    "additionalProperties": false
                  }
                },
                "shared": {
                  "type": "number"
                },
                "lost": {
                  "type": "number"
                },
                "gained": {
                  "type": "number"
                },
                "overlap": {
                  "type": "number"
                },
                "rankShift": {
                  "type": "number"
                },
                "kind": {
                  "type": "string",
                  "enum": [
                    "user"
                  ]
                },
                "userId": {
                  "type": "string"
                },
                "certificates": {
                  "type": "object",
                  "properties": {
                    "left": {
                      "type": "object",
                      "properties": {
                        "search": {
                          "type": "string",
                          "enum": [
                            "certified",
                            "beam"
                          ]
                        },
                        "certified": {
                          "type": "boolean"
                        },
                        "gap": {
                          "type": "number"
                        },
                        "rows": {
                          "type": "number"
                        }
                      },
                      "required": [
                        "search",
                        "certified",
                        "rows"
                      ],
                      "additionalProperties": false
                    },
                    "right": {
                      "type": "object",
                      "properties": {
                        "search": {
                          "type": "string",
                          "enum": [
                            "certified",
                            "beam"
                          ]
                        },
                        "certified": {
                          "type": "boolean"
                        },
                        "gap": {
                          "type": "number"
                        },
                        "rows": {
                          "type": "number"
                        }
                      },
                      "required": [
                        "search",
                        "certified",
                        "rows"
                      ],
                      "additionalProperties": false
                    }
                  },
                  "required": [
                    "left",
                    "right"
                  ],
                  "additionalProperties": false
                }
              },
              "required": [
                "certificates",
                "gained",
                "items",
                "kind",
                "lost",
                "overlap",
                "rankShift",
                "shared",
                "userId"
              ]
            },
            {
              "type": "object",
              "properties": {
                "kind": {
                  "type": "string",
                  "enum": [
                    "failed"
                  ]
                },
                "userId": {
                  "type": "string"
                },
                "message": {
                  "type": "string"
                }
              },
              "required": [
                "kind",
                "userId",
                "message"
              ],
              "additionalProperties": false
            },
            {
              "type": "object",
              "properties": {
                "kind": {
                  "type": "string",
                  "enum": [
                    "summary"
                  ]
                },
                "id": {
                  "type": "string"
                },
                "users": {
                  "type": "number"
                },
                "failed": {
                  "type": "number"
                },
                "overlap": {
                  "type": "number"
                },
                "rankShift": {
                  "type": "number"
                },
                "gained": {
                  "type": "number"
                },
                "lost": {
                  "type": "number"
                },
                "attributes": {
                  "type": "object",
                  "additionalProperties": {
                    "type": "object",
                    "additionalProperties": {
                      "type": "object",
                      "properties": {
                        "left": {
                          "type": "number"
                        },
                        "right": {
                          "type": "number"
                        }
                      },
                      "required": [
                        "left",
                        "right"
                      ],
                      "additionalProperties": false
                    }
                  }
                }
              },
              "required": [
                "kind",
                "id",
                "users",
                "failed",
                "overlap",
                "rankShift",
                "gained",
                "lost",
                "attributes"
              ],
              "additionalProperties": false
            }
          ]
        }
      },
      "notes": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "id": {
              "type": "string"
            },
            "recallId": {
              "type": "string"
            },
            "timeMs": {
              "type": "number"
            },
            "author": {
              "type": "string"
            },
            "text": {
              "type": "string"
            }
          },
          "required": [
            "id",
            "recallId",
            "timeMs",
            "author",
            "text"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "author",
      "id",
      "lines",
      "notes",
      "overlap",
      "sides",
      "timeMs",
      "title",
      "userCount"
    ],
    "additionalProperties": false
  },
  "delete comparisons/{id}": {
    "type": "object",
    "properties": {
      "removed": {
        "type": "boolean"
      }
    },
    "required": [
      "removed"
    ],
    "additionalProperties": false
  },
  "post comparisons/{id}/notes": {
    "type": "object",
    "properties": {
      "id": {
        "type": "string"
      },
      "recallId": {
        "type": "string"
      },
      "timeMs": {
        "type": "number"
      },
      "author": {
        "type": "string"
      },
      "text": {
        "type": "string"
      }
    },
    "required": [
      "id",
      "recallId",
      "timeMs",
      "author",
      "text"
    ],
    "additionalProperties": false
  },
  "delete comparisons/{id}/notes/{note}": {
    "type": "object",
    "properties": {
      "removed": {
        "type": "boolean"
      }
    },
    "required": [
      "removed"
    ],
    "additionalProperties": false
  },
  "post sql": {
    "type": "object",
    "properties": {
      "columns": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "name": {
              "type": "string"
            },
            "type": {
              "type": "string"
            }
          },
          "required": [
            "name",
            "type"
          ],
          "additionalProperties": false
        }
      },
      "rows": {
        "type": "array",
        "items": {
          "type": "array",
          "items": {}
        }
      },
      "isCut": {
        "type": "boolean"
      },
      "waitedMs": {
        "type": "number"
      },
      "milliseconds": {
        "type": "number"
      }
    },
    "required": [
      "columns",
      "rows",
      "isCut",
      "waitedMs",
      "milliseconds"
    ],
    "additionalProperties": false
  },
  "get analysis/about": {
    "type": "object",
    "properties": {
      "isKept": {
        "type": "boolean"
      },
      "store": {
        "type": "string",
        "enum": [
          "duckdb",
          "clickhouse"
        ]
      },
      "keptFromMs": {
        "type": "number"
      },
      "keptToMs": {
        "type": "number"
      },
      "recalls": {
        "type": "number"
      },
      "behaviours": {
        "type": "number"
      },
      "bytes": {
        "type": "number"
      },
      "files": {
        "type": "number"
      },
      "keepMs": {
        "type": "number"
      },
      "keepBytes": {
        "type": "number"
      },
      "lost": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "table": {
              "type": "string"
            },
            "rows": {
              "type": "number"
            },
            "sinceMs": {
              "type": "number"
            }
          },
          "required": [
            "table",
            "rows",
            "sinceMs"
          ],
          "additionalProperties": false
        }
      },
      "fault": {
        "type": "string"
      },
      "factShare": {
        "type": "number"
      },
      "recordShare": {
        "type": "number"
      },
      "sceneKeys": {
        "type": "array",
        "items": {
          "type": "string"
        }
      },
      "attributes": {
        "type": "array",
        "items": {
          "type": "string"
        }
      }
    },
    "required": [
      "isKept",
      "store",
      "keptFromMs",
      "keptToMs",
      "recalls",
      "behaviours",
      "bytes",
      "files",
      "keepMs",
      "keepBytes",
      "lost",
      "fault",
      "factShare",
      "recordShare",
      "sceneKeys",
      "attributes"
    ],
    "additionalProperties": false
  },
  "get analysis/schema": {
    "type": "object",
    "properties": {
      "tables": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "name": {
              "type": "string"
            },
            "text": {
              "type": "string"
            },
            "columns": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "name": {
                    "type": "string"
                  },
                  "type": {
                    "type": "string"
                  },
                  "text": {
                    "type": "string"
                  }
                },
                "required": [
                  "name",
                  "type",
                  "text"
                ],
                "additionalProperties": false
              }
            }
          },
          "required": [
            "name",
            "text",
            "columns"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "tables"
    ],
    "additionalProperties": false
  },
  "get analysis/overview": {
    "type": "object",
    "properties": {
      "fromMs": {
        "type": "number"
      },
      "toMs": {
        "type": "number"
      },
      "bucketMs": {
        "type": "number"
      },
      "oneIn": {
        "type": "number"
      },
      "overlapOneIn": {
        "type": "number"
      },
      "liveItems": {
        "type": "number"
      },
      "shownBy": {
        "type": "string",
        "enum": [
          "impressions",
          "recalls"
        ]
      },
      "otherActions": {
        "type": "array",
        "items": {
          "type": "string"
        }
      },
      "now": {
        "type": "object",
        "properties": {
          "recalls": {
            "type": "number"
          },
          "answered": {
            "type": "number"
          },
          "users": {
            "type": "number"
          },
          "refused": {
            "type": "object",
            "additionalProperties": {
              "type": "number"
            }
          },
          "coverage": {
            "type": "number"
          },
          "gini": {
            "type": "number"
          },
          "clickRate": {
            "type": "object",
            "properties": {
              "successes": {
                "type": "number"
              },
              "trials": {
                "type": "number"
              },
              "rate": {
                "type": "number"
              },
              "low": {
                "type": "number"
              },
              "high": {
                "type": "number"
              }
            },
            "required": [
              "successes",
              "trials",
              "rate",
              "low",
              "high"
            ],
            "additionalProperties": false
          },
          "overlap": {
            "type": "number",
            "nullable": true
          }
        },
        "required": [
          "recalls",
          "answered",
          "users",
          "refused",
          "coverage",
          "gini",
          "clickRate",
          "overlap"
        ],
        "additionalProperties": false
      },
      "before": {
        "type": "object",
        "properties": {
          "recalls": {
            "type": "number"
          },
          "answered": {
            "type": "number"
          },
          "users": {
            "type": "number"
          },
          "refused": {
            "type": "object",
            "additionalProperties": {
              "type": "number"
            }
          },
          "coverage": {
            "type": "number"
          },
          "gini": {
            "type": "number"
          },
          "clickRate": {
            "type": "object",
            "properties": {
              "successes": {
                "type": "number"
              },
              "trials": {
                "type": "number"
              },
              "rate": {
                "type": "number"
              },
              "low": {
                "type": "number"
              },
              "high": {
                "type": "number"
              }
            },
            "required": [
              "successes",
              "trials",
              "rate",
              "low",
              "high"
            ],
            "additionalProperties": false
          },
          "overlap": {
            "type": "number",
            "nullable": true
          }
        },
        "required": [
          "recalls",
          "answered",
          "users",
          "refused",
          "coverage",
          "gini",
          "clickRate",
          "overlap"
        ],
        "additionalProperties": false
      },
      "series": {
        "type": "array",
        "items": {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "timeMs": {
              "type": "number"
            },
            "recalls": {
              "type": "number"
            },
            "answered": {
              "type": "number"
            },
            "users": {
              "type": "number"
            },
            "refused": {
              "type": "object",
              "additionalProperties": {
                "type": "number"
              }
            },
            "coverage": {
              "type": "number"
            },
            "gini": {
              "type": "number"
            },
            "clickRate": {
              "type": "object",
              "properties": {
                "successes": {
                  "type": "number"
                },
                "trials": {
                  "type": "number"
                },
                "rate": {
                  "type": "number"
                },
                "low": {
                  "type": "number"
                },
                "high": {
                  "type": "number"
                }
              },
              "required": [
                "successes",
                "trials",
                "rate",
                "low",
                "high"
              ],
              "additionalProperties": false
            },
            "overlap": {
              "type": "number",
              "nullable": true
            }
          },
          "required": [
            "answered",
            "clickRate",
            "coverage",
            "gini",
            "overlap",
            "recalls",
            "refused",
            "timeMs",
            "users"
          ]
        }
      },
      "marks": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "timeMs": {
              "type": "number"
            },
            "kind": {
              "type": "string",
              "enum": [
                "catalogue",
                "model",
                "adapter",
                "template"
              ]
            },
            "text": {
              "type": "string"
            },
            "changes": {
              "type": "number"
            },
            "firstSequence": {
              "type": "number"
            },
            "sequence": {
              "type": "number"
            },
            "digest": {
              "type": "string"
            }
          },
          "required": [
            "timeMs",
            "kind",
            "text",
            "changes",
            "firstSequence",
            "sequence",
            "digest"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "fromMs",
      "toMs",
      "bucketMs",
      "oneIn",
      "overlapOneIn",
      "liveItems",
      "shownBy",
      "otherActions",
      "now",
      "before",
      "series",
      "marks"
    ],
    "additionalProperties": false
  },
  "get analysis/composition": {
    "type": "object",
    "properties": {
      "attribute": {
        "type": "string"
      },
      "bucketMs": {
        "type": "number"
      },
      "values": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "value": {
              "type": "string"
            },
            "items": {
              "type": "number"
            },
            "share": {
              "type": "number"
            }
          },
          "required": [
            "value",
            "items",
            "share"
          ],
          "additionalProperties": false
        }
      },
      "gini": {
        "type": "number"
      },
      "series": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "timeMs": {
              "type": "number"
            },
            "untilMs": {
              "type": "number"
            },
            "items": {
              "type": "array",
              "items": {
                "type": "number"
              }
            }
          },
          "required": [
            "timeMs",
            "untilMs",
            "items"
          ],
          "additionalProperties": false
        }
      },
      "sceneKey": {
        "type": "string"
      },
      "matrix": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "scene": {
              "type": "string"
            },
            "items": {
              "type": "array",
              "items": {
                "type": "number"
              }
            }
          },
          "required": [
            "scene",
            "items"
          ],
          "additionalProperties": false
        }
      },
      "marks": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "timeMs": {
              "type": "number"
            },
            "kind": {
              "type": "string",
              "enum": [
                "catalogue",
                "model",
                "adapter",
                "template"
              ]
            },
            "text": {
              "type": "string"
            },
            "changes": {
              "type": "number"
            },
            "firstSequence": {
              "type": "number"
            },
            "sequence": {
              "type": "number"
            },
            "digest": {
              "type": "string"
            }
          },
          "required": [
            "timeMs",
            "kind",
            "text",
            "changes",
            "firstSequence",
            "sequence",
            "digest"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "attribute",
      "bucketMs",
      "values",
      "gini",
      "series",
      "sceneKey",
      "matrix",
      "marks"
    ],
    "additionalProperties": false
  },
  "get analysis/reach": {
    "type": "object",
    "properties": {
      "by": {
        "type": "string"
      },
      "fromMs": {
        "type": "number"
      },
      "atMs": {
        "type": "number"
      },
      "toMs": {
        "type": "number"
      },
      "oneIn": {
        "type": "number"
      },
      "recallsBefore": {
        "type": "number"
      },
      "recallsAfter": {
        "type": "number"
      },
      "rows": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "key": {
              "type": "string"
            },
            "title": {
              "type": "string"
            },
            "before": {
              "type": "number"
            },
            "after": {
              "type": "number"
            },
            "shareBefore": {
              "type": "number"
            },
            "shareAfter": {
              "type": "number"
            },
            "pausedMs": {
              "type": "number"
            }
          },
          "required": [
            "key",
            "title",
            "before",
            "after",
            "shareBefore",
            "shareAfter",
            "pausedMs"
          ],
          "additionalProperties": false
        }
      },
      "isCut": {
        "type": "boolean"
      }
    },
    "required": [
      "by",
      "fromMs",
      "atMs",
      "toMs",
      "oneIn",
      "recallsBefore",
      "recallsAfter",
      "rows",
      "isCut"
    ],
    "additionalProperties": false
  },
  "get analysis/unreached": {
    "type": "object",
    "properties": {
      "items": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "itemId": {
              "type": "string"
            },
            "title": {
              "type": "string"
            },
            "eligibleRecalls": {
              "type": "number"
            }
          },
          "required": [
            "itemId",
            "title",
            "eligibleRecalls"
          ],
          "additionalProperties": false
        }
      },
      "values": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "value": {
              "type": "string"
            },
            "items": {
              "type": "number"
            },
            "live": {
              "type": "number"
            }
          },
          "required": [
            "value",
            "items",
            "live"
          ],
          "additionalProperties": false
        }
      },
      "total": {
        "type": "number"
      },
      "recalls": {
        "type": "number"
      },
      "unknownRecalls": {
        "type": "number"
      }
    },
    "required": [
      "items",
      "values",
      "total",
      "recalls",
      "unknownRecalls"
    ],
    "additionalProperties": false
  },
  "get analysis/versions": {
    "type": "object",
    "properties": {
      "fromMs": {
        "type": "number"
      },
      "toMs": {
        "type": "number"
      },
      "canary": {
        "type": "string"
      },
      "oneIn": {
        "type": "number"
      },
      "overlapOneIn": {
        "type": "number"
      },
      "versions": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "adapter": {
              "type": "string"
            },
            "name": {
              "type": "string"
            },
            "arm": {
              "type": "string"
            },
            "recalls": {
              "type": "number"
            },
            "users": {
              "type": "number"
            }
          },
          "required": [
            "adapter",
            "name",
            "arm",
            "recalls",
            "users"
          ],
          "additionalProperties": false
        }
      },
      "pairs": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "left": {
              "type": "string"
            },
            "right": {
              "type": "string"
            },
            "users": {
              "type": "number"
            },
            "usersOfBoth": {
              "type": "number"
            },
            "overlap": {
              "type": "number",
              "nullable": true
            },
            "histogram": {
              "type": "array",
              "items": {
                "type": "number"
              }
            },
            "items": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "key": {
                    "type": "string"
                  },
                  "title": {
                    "type": "string"
                  },
                  "count": {
                    "type": "number"
                  }
                },
                "required": [
                  "key",
                  "title",
                  "count"
                ],
                "additionalProperties": false
              }
            },
            "values": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "key": {
                    "type": "string"
                  },
                  "title": {
                    "type": "string"
                  },
                  "count": {
                    "type": "number"
                  }
                },
                "required": [
                  "key",
                  "title",
                  "count"
                ],
                "additionalProperties": false
              }
            }
          },
          "required": [
            "left",
            "right",
            "users",
            "usersOfBoth",
            "overlap",
            "histogram",
            "items",
            "values"
          ],
          "additionalProperties": false
        }
      },
      "attribute": {
        "type": "string"
      },
      "exposure": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "adapter": {
              "type": "string"
            },
            "value": {
              "type": "string"
            },
            "items": {
              "type": "number"
            },
            "share": {
              "type": "number"
            }
          },
          "required": [
            "adapter",
            "value",
            "items",
            "share"
          ],
          "additionalProperties": false
        }
      },
      "shownBy": {
        "type": "string",
        "enum": [
          "impressions",
          "recalls"
        ]
      },
      "outcome": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "adapter": {
              "type": "string"
            },
            "position": {
              "type": "number"
            },
            "recalled": {
              "type": "number"
            },
            "impressions": {
              "type": "number"
            },
            "clicks": {
              "type": "object",
              "properties": {
                "successes": {
                  "type": "number"
                },
                "trials": {
                  "type": "number"
                },
                "rate": {
                  "type": "number"
                },
                "low": {
                  "type": "number"
                },
                "high": {
                  "type": "number"
                }
              },
              "required": [
                "successes",
                "trials",
                "rate",
                "low",
                "high"
              ],
              "additionalProperties": false
            },
            "conversions": {
              "type": "object",
              "properties": {
                "successes": {
                  "type": "number"
                },
                "trials": {
                  "type": "number"
                },
                "rate": {
                  "type": "number"
                },
                "low": {
                  "type": "number"
                },
                "high": {
                  "type": "number"
                }
              },
              "required": [
                "successes",
                "trials",
                "rate",
                "low",
                "high"
              ],
              "additionalProperties": false
            }
          },
          "required": [
            "adapter",
            "position",
            "recalled",
            "impressions",
            "clicks",
            "conversions"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "fromMs",
      "toMs",
      "canary",
      "oneIn",
      "overlapOneIn",
      "versions",
      "pairs",
      "attribute",
      "exposure",
      "shownBy",
      "outcome"
    ],
    "additionalProperties": false
  },
  "get analysis/outcomes": {
    "type": "object",
    "properties": {
      "recalls": {
        "type": "number"
      },
      "users": {
        "type": "number"
      },
      "rewards": {
        "type": "number"
      },
      "targetItems": {
        "type": "number"
      },
      "effectiveUsers": {
        "type": "number"
      },
      "balance": {
        "type": "number"
      },
      "estimates": {
        "type": "object",
        "properties": {
          "served": {
            "type": "object",
            "properties": {
              "value": {
                "type": "number"
              },
              "low": {
                "type": "number"
              },
              "high": {
                "type": "number"
              }
            },
            "required": [
              "value",
              "low",
              "high"
            ],
            "additionalProperties": false
          },
          "weighted": {
            "type": "object",
            "properties": {
              "value": {
                "type": "number"
              },
              "low": {
                "type": "number"
              },
              "high": {
                "type": "number"
              }
            },
            "required": [
              "value",
              "low",
              "high"
            ],
            "additionalProperties": false
          },
          "normalised": {
            "type": "object",
            "properties": {
              "value": {
                "type": "number"
              },
              "low": {
                "type": "number"
              },
              "high": {
                "type": "number"
              }
            },
            "required": [
              "value",
              "low",
              "high"
            ],
            "additionalProperties": false
          },
          "doublyRobust": {
            "type": "object",
            "properties": {
              "value": {
                "type": "number"
              },
              "low": {
                "type": "number"
              },
              "high": {
                "type": "number"
              }
            },
            "required": [
              "value",
              "low",
              "high"
            ],
            "additionalProperties": false
          },
          "gain": {
            "type": "object",
            "properties": {
              "value": {
                "type": "number"
              },
              "low": {
                "type": "number"
              },
              "high": {
                "type": "number"
              }
            },
            "required": [
              "value",
              "low",
              "high"
            ],
            "additionalProperties": false
          }
        },
        "required": [
          "served",
          "weighted",
          "normalised",
          "doublyRobust",
          "gain"
        ],
        "additionalProperties": false,
        "nullable": true
      },
      "reward": {
        "type": "string"
      },
      "oneIn": {
        "type": "number"
      },
      "explored": {
        "type": "number"
      },
      "left": {
        "type": "object",
        "additionalProperties": {
          "type": "number"
        }
      },
      "effectiveUsersMin": {
        "type": "number"
      }
    },
    "required": [
      "balance",
      "effectiveUsers",
      "effectiveUsersMin",
      "estimates",
      "explored",
      "left",
      "oneIn",
      "recalls",
      "reward",
      "rewards",
      "targetItems",
      "users"
    ],
    "additionalProperties": false
  },
  "get analysis/tables/{name}": {
    "type": "object",
    "properties": {
      "name": {
        "type": "string",
        "enum": [
          "bids",
          "spend",
          "arrivals",
          "exploration",
          "calibration"
        ]
      },
      "oneIn": {
        "type": "number"
      },
      "figures": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "label": {
              "type": "string"
            },
            "form": {
              "type": "string",
              "enum": [
                "text",
                "item",
                "time",
                "count",
                "share",
                "number",
                "hours"
              ]
            },
            "value": {
              "type": "number",
              "nullable": true
            }
          },
          "required": [
            "label",
            "form",
            "value"
          ],
          "additionalProperties": false
        }
      },
      "columns": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "name": {
              "type": "string"
            },
            "label": {
              "type": "string"
            },
            "form": {
              "type": "string",
              "enum": [
                "text",
                "item",
                "time",
                "count",
                "share",
                "number",
                "hours"
              ]
            }
          },
          "required": [
            "name",
            "label",
            "form"
          ],
          "additionalProperties": false
        }
      },
      "rows": {
        "type": "array",
        "items": {
          "type": "object",
          "additionalProperties": {
            "anyOf": [
              {
                "type": "string",
                "nullable": true
              },
              {
                "type": "number",
                "nullable": true
              }
            ]
          }
        }
      },
      "isCut": {
        "type": "boolean"
      }
    },
    "required": [
      "name",
      "oneIn",
      "figures",
      "columns",
      "rows",
      "isCut"
    ],
    "additionalProperties": false
  },
  "get analysis/ads/{id}": {
    "type": "object",
    "properties": {
      "item": {
        "type": "object",
        "properties": {
          "itemId": {
            "type": "string"
          },
          "title": {
            "type": "string"
          },
          "sid": {
            "type": "string"
          },
          "attributes": {
            "type": "string"
          },
          "isLive": {
            "type": "boolean"
          },
          "fromSequence": {
            "type": "number"
          },
          "fromMs": {
            "type": "number"
          }
        },
        "required": [
          "itemId",
          "title",
          "sid",
          "attributes",
          "isLive",
          "fromSequence",
          "fromMs"
        ],
        "additionalProperties": false,
        "nullable": true
      },
      "history": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "itemId": {
              "type": "string"
            },
            "title": {
              "type": "string"
            },
            "sid": {
              "type": "string"
            },
            "attributes": {
              "type": "string"
            },
            "isLive": {
              "type": "boolean"
            },
            "fromSequence": {
              "type": "number"
            },
            "fromMs": {
              "type": "number"
            }
          },
          "required": [
            "itemId",
            "title",
            "sid",
            "attributes",
            "isLive",
            "fromSequence",
            "fromMs"
          ],
          "additionalProperties": false
        }
      },
      "oneIn": {
        "type": "number"
      },
      "recalls": {
        "type": "number"
      },
      "users": {
        "type": "number"
      },
      "hours": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "timeMs": {
              "type": "number"
            },
            "recalls": {
              "type": "number"
            },
            "users": {
              "type": "number"
            }
          },
          "required": [
            "timeMs",
            "recalls",
            "users"
          ],
          "additionalProperties": false
        }
      },
      "byVersion": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "adapter": {
              "type": "string"
            },
            "recalls": {
              "type": "number"
            }
          },
          "required": [
            "adapter",
            "recalls"
          ],
          "additionalProperties": false
        }
      },
      "byScene": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "key": {
              "type": "string"
            },
            "value": {
              "type": "string"
            },
            "recalls": {
              "type": "number"
            }
          },
          "required": [
            "key",
            "value",
            "recalls"
          ],
          "additionalProperties": false
        }
      },
      "outcome": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "adapter": {
              "type": "string"
            },
            "position": {
              "type": "number"
            },
            "recalled": {
              "type": "number"
            },
            "impressions": {
              "type": "number"
            },
            "clicks": {
              "type": "object",
              "properties": {
                "successes": {
                  "type": "number"
                },
                "trials": {
                  "type": "number"
                },
                "rate": {
                  "type": "number"
                },
                "low": {
                  "type": "number"
                },
                "high": {
                  "type": "number"
                }
              },
              "required": [
                "successes",
                "trials",
                "rate",
                "low",
                "high"
              ],
              "additionalProperties": false
            },
            "conversions": {
              "type": "object",
              "properties": {
                "successes": {
                  "type": "number"
                },
                "trials": {
                  "type": "number"
                },
                "rate": {
                  "type": "number"
                },
                "low": {
                  "type": "number"
                },
                "high": {
                  "type": "number"
                }
              },
              "required": [
                "successes",
                "trials",
                "rate",
                "low",
                "high"
              ],
              "additionalProperties": false
            }
          },
          "required": [
            "adapter",
            "position",
            "recalled",
            "impressions",
            "clicks",
            "conversions"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "item",
      "history",
      "oneIn",
      "recalls",
      "users",
      "hours",
      "byVersion",
      "byScene",
      "outcome"
    ],
    "additionalProperties": false
  },
  "get analysis/items": {
    "type": "object",
    "properties": {
      "total": {
        "type": "number"
      },
      "items": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "itemId": {
              "type": "string"
            },
            "title": {
              "type": "string"
            },
            "sid": {
              "type": "string"
            },
            "attributes": {
              "type": "string"
            },
            "isLive": {
              "type": "boolean"
            },
            "fromSequence": {
              "type": "number"
            },
            "fromMs": {
              "type": "number"
            }
          },
          "required": [
            "itemId",
            "title",
            "sid",
            "attributes",
            "isLive",
            "fromSequence",
            "fromMs"
          ],
          "additionalProperties": false
        }
      },
      "facets": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "name": {
              "type": "string"
            },
            "values": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "value": {
                    "type": "string"
                  },
                  "count": {
                    "type": "number"
                  }
                },
                "required": [
                  "value",
                  "count"
                ],
                "additionalProperties": false
              }
            }
          },
          "required": [
            "name",
            "values"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "total",
      "items",
      "facets"
    ],
    "additionalProperties": false
  },
  "get analysis/change": {
    "type": "object",
    "properties": {
      "distance": {
        "type": "number"
      },
      "shares": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "part": {
              "type": "string",
              "enum": [
                "history",
                "catalogue",
                "adapter"
              ]
            },
            "share": {
              "type": "number"
            },
            "isAsked": {
              "type": "boolean"
            },
            "reason": {
              "type": "string"
            }
          },
          "required": [
            "part",
            "share",
            "isAsked",
            "reason"
          ],
          "additionalProperties": false
        }
      },
      "rest": {
        "type": "number"
      },
      "gained": {
        "type": "array",
        "items": {
          "type": "string"
        }
      },
      "lost": {
        "type": "array",
        "items": {
          "type": "string"
        }
      },
      "corners": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "later": {
              "type": "array",
              "items": {
                "type": "string",
                "enum": [
                  "history",
                  "catalogue",
                  "adapter"
                ]
              }
            },
            "itemIds": {
              "type": "array",
              "items": {
                "type": "string"
              }
            }
          },
          "required": [
            "later",
            "itemIds"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "distance",
      "shares",
      "rest",
      "gained",
      "lost",
      "corners"
    ],
    "additionalProperties": false
  },
  "post exports": {
    "type": "object",
    "properties": {
      "id": {
        "type": "string"
      },
      "state": {
        "type": "string",
        "enum": [
          "running",
          "done",
          "failed"
        ]
      },
      "format": {
        "type": "string",
        "enum": [
          "csv",
          "parquet",
          "arrow"
        ]
      },
      "bytes": {
        "type": "number"
      },
      "milliseconds": {
        "type": "number"
      },
      "message": {
        "type": "string"
      }
    },
    "required": [
      "id",
      "state",
      "format",
      "bytes",
      "milliseconds",
      "message"
    ],
    "additionalProperties": false
  },
  "get exports/{id}": {
    "type": "object",
    "properties": {
      "id": {
        "type": "string"
      },
      "state": {
        "type": "string",
        "enum": [
          "running",
          "done",
          "failed"
        ]
      },
      "format": {
        "type": "string",
        "enum": [
          "csv",
          "parquet",
          "arrow"
        ]
      },
      "bytes": {
        "type": "number"
      },
      "milliseconds": {
        "type": "number"
      },
      "message": {
        "type": "string"
      }
    },
    "required": [
      "id",
      "state",
      "format",
      "bytes",
      "milliseconds",
      "message"
    ],
    "additionalProperties": false
  },
  "delete exports/{id}": {
    "type": "object",
    "properties": {
      "removed": {
        "type": "boolean"
      }
    },
    "required": [
      "removed"
    ],
    "additionalProperties": false
  },
  "get sets": {
    "type": "object",
    "properties": {
      "sets": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "name": {
              "type": "string"
            },
            "timeMs": {
              "type": "number"
            },
            "author": {
              "type": "string"
            },
            "recallIds": {
              "type": "array",
              "items": {
                "type": "string"
              }
            }
          },
          "required": [
            "name",
            "timeMs",
            "author",
            "recallIds"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "sets"
    ],
    "additionalProperties": false
  },
  "post sets": {
    "type": "object",
    "properties": {
      "name": {
        "type": "string"
      },
      "timeMs": {
        "type": "number"
      },
      "author": {
        "type": "string"
      },
      "recallIds": {
        "type": "array",
        "items": {
          "type": "string"
        }
      }
    },
    "required": [
      "name",
      "timeMs",
      "author",
      "recallIds"
    ],
    "additionalProperties": false
  },
  "delete sets/{name}": {
    "type": "object",
    "properties": {
      "removed": {
        "type": "boolean"
      }
    },
    "required": [
      "removed"
    ],
    "additionalProperties": false
  },
  "get questions": {
    "type": "object",
    "properties": {
      "questions": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "name": {
              "type": "string"
            },
            "author": {
              "type": "string"
            },
            "timeMs": {
              "type": "number"
            },
            "sql": {
              "type": "string"
            }
          },
          "required": [
            "name",
            "author",
            "timeMs",
            "sql"
          ],
          "additionalProperties": false
        }
      }
    },
    "required": [
      "questions"
    ],
    "additionalProperties": false
  },
  "post questions": {
    "type": "object",
    "properties": {
      "name": {
        "type": "string"
      },
      "author": {
        "type": "string"
      },
      "timeMs": {
        "type": "number"
      },
      "sql": {
        "type": "string"
      }
    },
    "required": [
      "name",
      "author",
      "timeMs",
      "sql"
    ],
    "additionalProperties": false
  },
  "delete questions/{name}": {
    "type": "object",
    "properties": {
      "removed": {
        "type": "boolean"
      }
    },
    "required": [
      "removed"
    ],
    "additionalProperties": false
  }
};
