import type { Issue } from '../contract/base/json.ts'
import type { SchemaChecker } from '../contract/base/schema.ts'
import { fieldOf, findTextFlaw, joinsTemplate } from './arguments.ts'
import { checkArguments } from './check-arguments.ts'
import { checkInterpreter } from './check-interpreter.ts'
import { checkScript } from './check-script.ts'
import type { ToolFile } from './tool-file.ts'

/** What a schema cannot say of a file that fits it. */
export function checkToolFile(file: ToolFile, checker: SchemaChecker): Issue[] {
  return [
    ...checkWords(file),
    ...checkSchemas(file, checker),
    ...checkCommand(file),
    ...checkArguments(file),
    ...checkWorkingDirectory(file),
  ]
}

const issue = (pointer: string, code: string, message: string): Issue => ({ pointer, code, message })

function checkWords({ name, description }: ToolFile): Issue[] {
  const issues: Issue[] = []
  if (description.trim() === '')
    issues.push(issue('/description', 'missing', 'A model chooses tools by their description; write one.'))
  if (/(^|\.)(__proto__|constructor|prototype)(\.|$)/.test(name))
    issues.push(
      issue('/name', 'invalid_name', `"${name}" has a part that no name may have. Choose another one.`),
    )
  return issues
}

function checkSchemas(file: ToolFile, checker: SchemaChecker): Issue[] {
  const inside = (field: 'input_schema' | 'output_schema') =>
    checker
      .inspect(file[field] ?? {}, 'native')
      .map((found) => ({ ...found, pointer: `/${field}${found.pointer}` }))
  const issues = [...inside('input_schema'), ...inside('output_schema')]
  if (file.input_schema.type !== 'object')
    issues.push(
      issue(
        '/input_schema/type',
        'unsupported_schema',
        'The input of a tool is an object; set "type": "object".',
      ),
    )
  if (file.output === 'text' && file.output_schema !== undefined)
    issues.push(
      issue(
        '/output_schema',
        'inconsistent_manifest',
        'Text has no schema. Set "output" to "json" or "result".',
      ),
    )
  return issues
}

function checkCommand(file: ToolFile): Issue[] {
  const { command, command_type: type, permission, tags } = file
  const issues: Issue[] = []
  const add = (code: string, message: string) => issues.push(issue('/command', code, message))
  const flaw = findTextFlaw(command)
  if (flaw !== undefined) add('invalid_text', `It has ${flaw}. Leave it out.`)
  if (fieldOf(command) !== undefined || joinsTemplate(command))
    add(
      'template_not_allowed',
      type === 'exec'
        ? 'The program is fixed. Templates are for "args".'
        : 'No value becomes a part of a script. Put "{{field}}" into "args" and write "$1" here.',
    )
  if (type === 'exec') return [...issues, ...checkProgram(command), ...checkInterpreter(file)]
  if (permission !== 'write' && !tags.includes('dangerous'))
    issues.push(
      issue(
        '/permission',
        'inconsistent_manifest',
        'A shell command has the permission "write" or the tag "dangerous". Declare one of them, or use "exec".',
      ),
    )
  for (const message of checkScript(command)) add('unsafe_script', message)
  return issues
}

function checkProgram(command: string): Issue[] {
  if (/[*?[\]{}]/.test(command))
    return [issue('/command', 'invalid_program', `"${command}" is a pattern. Name one program.`)]
  if (!command.includes('/') && /\s/.test(command))
    return [
      issue(
        '/command',
        'invalid_program',
        `"${command}" is more than a program. Arguments go into "args", each by itself.`,
      ),
    ]
  if (command.includes('/') && !/^\.{0,2}\//.test(command))
    return [
      issue(
        '/command',
        'invalid_program',
        `"${command}" is neither a name nor a path: begin it with "/", or with "./" for one beside this file.`,
      ),
    ]
  return []
}

function checkWorkingDirectory({ working_dir: folder }: ToolFile): Issue[] {
  if (!/^~|\0/.test(folder)) return []
  return [
    issue(
      '/working_dir',
      'invalid_root',
      `"${folder}" is not a path from the project or from "/" on. Write one of these.`,
    ),
  ]
}
