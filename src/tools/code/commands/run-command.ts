import type { CommandsConfiguration } from '../../../contract/configuration.ts'
import type { Tool } from '../../../contract/tool/tool.ts'
import { quoteArgv } from '../../../kit/text/quote-argv.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { commandManifest, secretsFor } from './command-manifest.ts'
import { planCommand, runCommand } from './command.ts'
import {
  backgroundField,
  commandTimeField,
  dryRunField,
  purposeField,
  reviewField,
  whereField,
} from '../base/fields.ts'
import { invalidInput, requireWellFormed } from '../base/invalid-input.ts'

/** `code.run_command`: a program by its argument list, without a shell, ended as a whole tree at its time limit. */
export function runCommandTool(commands: CommandsConfiguration): Tool {
  return defineBuiltin({
    ...commandManifest(commands),
    name: 'code.run_command',
    title: 'Run command',
    description:
      'Runs a program to its end: argv is a list, no shell, so no pipes, globs or variables. Waits up to timeout_ms (120000, at most 600000), then ends the program with all its children. Keeps the first and last part of each output over 65536 bytes. A non-zero exit code is a failure. With background: true it answers at once with the id of a job.',
    input: {
      type: 'object',
      properties: {
        argv: {
          type: 'array',
          items: { type: 'string', maxLength: 131_072 },
          minItems: 1,
          maxItems: 1_000,
          description: 'The program and its arguments, each as it is, such as ["git", "log", "-1"].',
        },
        cwd: { ...whereField, description: 'Working directory. Default: the project root.' },
        timeout_ms: commandTimeField,
        background: backgroundField,
        dry_run: dryRunField,
        review: reviewField,
        description: purposeField,
      },
      required: ['argv'],
      additionalProperties: false,
    },
    decode(input) {
      const argv = input.argv.map(toArgument)
      return {
        argv,
        line: quoteArgv(argv),
        secrets: secretsFor(argv, commands),
        cwd: input.cwd,
        timeoutMs: input.timeout_ms,
        background: input.background,
        dryRun: input.dry_run,
        description: input.description,
        review: input.review ? 'always' : (commands.review ?? 'protected'),
        mustHold: input.review,
      }
    },
    plan: planCommand,
    run: runCommand,
  })
}

function toArgument(argument: string, index: number): string {
  if (argument.includes('\0'))
    throw invalidInput(`argv[${index}] has a NUL character, which no argument can carry. Leave it out.`)
  return requireWellFormed(argument, `argv[${index}]`)
}
