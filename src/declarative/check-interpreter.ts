import type { Fault } from '../contract/json.ts'
import { pointerTo } from '../kit/json-pointer.ts'
import { fieldOf } from './arguments.ts'
import { checkScript } from './check-script.ts'
import type { ToolFile } from './tool-file.ts'

/** Options after which an interpreter takes code. */
const codeOptions: readonly {
  readonly programs: RegExp
  readonly option: RegExp
  readonly isShell?: boolean
}[] = [
  { programs: /^(?:sh|bash|dash|ash|ksh|zsh|fish|busybox)$/, option: /^-[A-Za-z]*c$/, isShell: true },
  { programs: /^(?:node|nodejs|bun|deno)$/, option: /^(?:-e|-p|-pe|--eval|--print)$/ },
  { programs: /^(?:python|pypy)[0-9.]*$/, option: /^-[A-Za-z]*c$/ },
  { programs: /^(?:perl|ruby|lua)[0-9.]*$/, option: /^-[A-Za-z]*[eE]$/ },
  { programs: /^php[0-9.]*$/, option: /^-[BrRE]$/ },
]

/**
 * Faults of a program that takes code on its command line: a value of the input is never that code, and what a shell gets there is held to
 * what holds for scripts.
 */
export function checkInterpreter(file: ToolFile): Fault[] {
  const name = file.command.slice(file.command.lastIndexOf('/') + 1)
  const known = codeOptions.find(({ programs }) => programs.test(name))
  if (known === undefined) return []
  return file.args.flatMap((argument, index): Fault[] => {
    const before = index === 0 ? undefined : file.args[index - 1]
    const isPair = typeof argument !== 'string'
    const option = isPair ? argument[0] : before
    const code = isPair ? argument[1] : argument
    if (typeof option !== 'string' || !known.option.test(option)) return []
    const pointer = isPair ? pointerTo(pointerTo('/args', index), 1) : pointerTo('/args', index)
    if (fieldOf(code) !== undefined)
      return [
        {
          pointer,
          code: 'unsafe_script',
          message: `"${name}" would run what the input says. Give it fixed code, and values as arguments or on stdin.`,
        },
      ]
    return known.isShell === true ? checkShellCode(code, pointer, file) : []
  })
}

function checkShellCode(script: string, pointer: string, { permission, tags }: ToolFile): Fault[] {
  const faults = checkScript(script).map((message) => ({ pointer, code: 'unsafe_script', message }))
  if (permission === 'write' || tags.includes('dangerous')) return faults
  return [
    ...faults,
    {
      pointer: '/permission',
      code: 'inconsistent_manifest',
      message: 'A shell command has the permission "write" or the tag "dangerous". Declare one of them.',
    },
  ]
}
