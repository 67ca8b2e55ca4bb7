import { resolve } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import { isReservedOnWindows } from './is-reserved-on-windows.ts'

const maxPathBytes = 4095
const maxNameBytes = 255

/**
 * The absolute path that a text means, `.` and `..` taken away without looking at the disk. The text is taken as it is:
 * `~`, percent signs and look-alike letters have no meaning. Fails for text that can name no file here: NUL bytes, lone
 * surrogates, names too long, and network and device paths (`\\server`, `//server/share`, `\\?\`).
 */
export function toAbsolutePath(text: string, base: string): string {
  const fault = faultOf(text)
  if (fault === undefined) {
    const path = resolve(base, text)
    if (!tooLong(path)) return path
  }
  throw new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'path_outside_roots',
    message: `The path ${JSON.stringify(text.slice(0, 200))} ${fault ?? 'is too long'} and can name no file inside the allowed directories. Use a plain path.`,
  })
}

function faultOf(text: string): string | undefined {
  if (text.includes('\0')) return 'contains a NUL byte'
  if (!text.isWellFormed()) return 'is not valid Unicode'
  if (/^(?:\\\\|\/\/)/.test(text)) return 'is a network or device path'
  if (process.platform === 'win32' && isReservedOnWindows(text)) return 'is a reserved name on Windows'
  return undefined
}

function tooLong(path: string): boolean {
  if (path.length * 3 <= maxNameBytes) return false
  return (
    Buffer.byteLength(path) > maxPathBytes ||
    path.split('/').some((name) => Buffer.byteLength(name) > maxNameBytes)
  )
}
