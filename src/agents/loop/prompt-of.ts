import type { ModelMessage } from '../../doors/language-model/messages.ts'
import { describeModel } from '../../doors/language-model/describe-model.ts'
import type { OpenRun } from './run-state.ts'
import { systemText } from './system-text.ts'
import { toPrompt } from './to-prompt.ts'

/** What a run says to its model. */
export function promptOf(run: OpenRun): ModelMessage[] {
  return toPrompt({ system: systemText(run), nodes: run.nodes, names: describeModel(run.model).names })
}
