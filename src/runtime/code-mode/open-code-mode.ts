import type { CodeMode } from '../../contract/services/code-mode.ts'
import { meetsPatterns } from '../../kit/match/match-pattern.ts'
import type { RunWatch } from '../limits/run-watch.ts'
import type { Admitted } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'
import { declareTools } from './declare-tools.ts'
import { runProgram } from './run-program.ts'

/** The programs that a call may run. */
export function openCodeMode(admitted: Admitted, scope: CallScope, watch: RunWatch): CodeMode {
  return {
    run: (code, limits = {}) => runProgram(code, { limits, admitted, scope, watch }),
    declare(patterns) {
      const { model } = admitted.call
      const tools = scope.session.opened().tools({ shared: true, ...(model !== undefined && { model }) })
      return declareTools(tools.filter(({ tool }) => meetsPatterns(patterns, tool)))
    },
  }
}
