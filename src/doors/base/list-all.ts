import type { Presentation } from '../../contract/base/call.ts'
import type { PresentedTool } from '../../contract/registry.ts'
import type { Session } from '../../contract/runtime.ts'
import { searchingTool } from '../../kit/names-tools.ts'

/** All tools of a session, for an SDK that takes its tools once: deferred ones too, and none that searches, as nothing could join what the SDK has. */
export function listAll(session: Session, presentation?: Presentation): readonly PresentedTool[] {
  return session
    .tools({ all: true, ...(presentation !== undefined && { presentation }) })
    .filter(({ tool }) => tool !== searchingTool)
}
