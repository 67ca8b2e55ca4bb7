import { knownEncodings } from './unpack.ts'

/** What every request says unless it says it itself. */
export const ordinaryHeaders: Readonly<Record<string, string>> = {
  'user-agent': 'Handrail',
  accept: '*/*',
  'accept-encoding': knownEncodings,
}
