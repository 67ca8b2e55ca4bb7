import type { CommandsConfiguration } from '../contract/configuration.ts'
import type { Issue } from '../contract/base/json.ts'
import { pointerTo } from '../kit/json/json-pointer.ts'
import { checkEach } from './base/check-lists.ts'
import { findReachFlaw, findVariableFlaw } from './base/find-flaw.ts'

/** What a schema cannot say of what commands get that fits it. */
export function checkCommands(commands: CommandsConfiguration | undefined): Issue[] {
  return [
    ...checkEach(commands?.hosts, '/commands/hosts', { code: 'never_matches', find: findReachFlaw }),
    ...Object.entries(commands?.secrets ?? {}).flatMap(([program, names]) =>
      checkEach(names, pointerTo('/commands/secrets', program), {
        code: 'invalid_name',
        find: findVariableFlaw,
      }),
    ),
  ]
}
