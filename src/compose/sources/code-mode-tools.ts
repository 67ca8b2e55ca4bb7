import { SetupError } from '../../contract/base/errors.ts'
import { mostProgramLimits as most, type ProgramLimits } from '../../contract/services/code-mode.ts'
import type { ToolSource } from '../../contract/tool/tool.ts'
import { findUnknownFields } from '../../kit/json/find-unknown-fields.ts'
import { codeModeTools as listCodeModeTools } from '../../tools/code-mode/tools.ts'

/** What `codeModeTools` takes. Unknown fields are refused. */
export interface CodeModeToolsOptions {
  /** What one program may take. */
  readonly limits?: ProgramLimits
}

/**
 * The built-in tools for programs of models, which call the other tools of their session. Throws a SetupError with every issue of the options.
 */
export function codeModeTools(options: CodeModeToolsOptions = {}): ToolSource {
  const { limits = {} } = options
  const issues = [
    ...findUnknownFields(options, ['limits']),
    ...findUnknownFields(limits, Object.keys(most)).map((issue) => ({
      ...issue,
      pointer: `/limits${issue.pointer}`,
    })),
  ]
  for (const name of ['computeMs', 'memoryMb', 'calls'] as const) {
    const given = limits[name]
    if (given === undefined || (Number.isInteger(given) && given >= 1 && given <= most[name])) continue
    const message = `${name} is a whole number from 1 to ${most[name]}.`
    issues.push({ pointer: `/limits/${name}`, code: 'out_of_range', message })
  }
  if (issues.length > 0) throw new SetupError('invalid_options', 'codeModeTools cannot be used so:', issues)
  const tools = listCodeModeTools({ ...limits })
  return { id: 'builtin.code_mode', kind: 'builtin', list: () => tools }
}
