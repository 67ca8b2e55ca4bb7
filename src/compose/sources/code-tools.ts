import { checkCommands } from '../../config/check-commands.ts'
import { checkLanguageServers } from '../../config/check-language-servers.ts'
import type { CommandsConfiguration, Configuration } from '../../contract/configuration.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { ToolSource } from '../../contract/tool/tool.ts'
import { codeTools as listCodeTools } from '../../tools/code/tools.ts'

/** Which of the built-in tools for code there are. */
export interface CodeToolsOptions {
  /** Whether there is `code.run_shell`, which runs command lines and is asked for like every dangerous tool. Default false. */
  shell?: boolean | undefined
  /** What commands may reach of the network, and which of the runtime's `secrets` a program gets. Default: nothing. */
  commands?: CommandsConfiguration | undefined
  /** What `code.lsp` asks, by name, beside the servers that it knows. Default: those that are installed. */
  languageServers?: Configuration['languageServers'] | undefined
}

/** The built-in tools that read, search, write and run in the project folder. Throws a SetupError where the options cannot be used. */
export function codeTools({ shell = false, commands, languageServers }: CodeToolsOptions = {}): ToolSource {
  const issues = [...checkCommands(commands), ...checkLanguageServers(languageServers)]
  if (issues.length > 0)
    throw new SetupError('invalid_options', 'These options of codeTools cannot be used:', issues)
  const tools = listCodeTools({ shell, commands, languageServers })
  return { id: 'builtin.code', kind: 'builtin', list: () => tools }
}
