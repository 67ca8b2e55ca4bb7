// First, so that an older Node is told before anything else fails on it.
export {} from './kit/require-node.ts'
export type {
  DoorCall,
  DoorOptions,
  DoorResults,
  DoorStep,
  LeftOutTool,
  ModelDoor,
  StrictOptions,
  DeferLoadingOptions,
} from './doors/base/model-door.ts'
