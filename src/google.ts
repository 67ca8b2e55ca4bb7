// First, so that an older Node is told before anything else fails on it.
export {} from './kit/require-node.ts'
export { google, type GoogleDoor, type GoogleOptions } from './doors/google/google.ts'
export type {
  GoogleAnswer,
  GoogleBlob,
  GoogleFunction,
  GooglePart,
  GoogleReply,
  GoogleTool,
} from './doors/google/messages.ts'
