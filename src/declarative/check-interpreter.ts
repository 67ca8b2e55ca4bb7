import type { Issue } from '../contract/base/json.ts'
import { pointerTo } from '../kit/json/json-pointer.ts'
import { fieldOf } from './arguments.ts'
import { checkScript } from './check-script.ts'
import { findCode, readsInput } from './find-code.ts'
import type { ToolFile } from './tool-file.ts'

/**
 * Issues of a program that takes code on its command line: a value of the input is never that code, and what a shell gets there is held to
 * what holds for scripts.
 */
export function checkInterpreter(file: ToolFile): Issue[] {
  const { command, args } = file
  const textOf = (text: string) => (fieldOf(text) === undefined ? text : undefined)
  const known = args.map((each) =>
    typeof each === 'string' ? textOf(each) : ([each[0], textOf(each[1])] as const),
  )
  if (readsInput(command, known)) return [wouldRun(nameOf(command), '/args')]
  return findCode(command, known).flatMap(({ index, isShell }): Issue[] => {
    const argument = args[index] ?? ''
    const [code, pointer] =
      typeof argument === 'string'
        ? [argument, pointerTo('/args', index)]
        : [argument[1], pointerTo(pointerTo('/args', index), 1)]
    if (fieldOf(code) !== undefined) return [wouldRun(nameOf(command), pointer)]
    return isShell ? checkShellCode(code, pointer, file) : []
  })
}

function nameOf(command: string): string {
  return command.slice(command.lastIndexOf('/') + 1)
}

function wouldRun(name: string, pointer: string): Issue {
  return {
    pointer,
    code: 'unsafe_script',
    message: `"${name}" would run what the input says. Give it fixed code or a file, and values as arguments.`,
  }
}

function checkShellCode(script: string, pointer: string, { permission, tags }: ToolFile): Issue[] {
  const issues = checkScript(script).map((message) => ({ pointer, code: 'unsafe_script', message }))
  if (permission === 'write' || tags.includes('dangerous')) return issues
  return [
    ...issues,
    {
      pointer: '/permission',
      code: 'inconsistent_manifest',
      message: 'A shell command has the permission "write" or the tag "dangerous". Declare one of them.',
    },
  ]
}
