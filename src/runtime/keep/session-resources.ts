import type { SessionResources } from '../../contract/services/session-resources.ts'
import type { Commands } from '../../contract/services/sandbox.ts'
import type { CallScope } from '../state/scope.ts'
import type { Admitted } from '../state/call-state.ts'
import { createHostPermit } from '../permission/permit-host.ts'
import { refuseCounted } from '../state/refuse-counted.ts'

/** What tools keep for a session, as one of its calls may use it. What it opens is bound to what it may touch. */
export function createSessionResources(
  admitted: Admitted,
  scope: CallScope,
  hidden: () => readonly string[],
): SessionResources {
  const { sandbox } = scope.tenant
  return {
    getOrOpen<Opened>(name: string, open: Parameters<SessionResources['getOrOpen']>[1]): Opened {
      refuseCounted(admitted, 'a program that goes on', 'Go on without it.')
      const globs = hidden()
      const { definition } = admitted.registered
      const key = JSON.stringify([definition.name, name, admitted.profile.digest, globs])
      const kept = scope.session.sessionResources.keep(key, ({ signal, track }) => {
        const { commands } = sandbox.enter(admitted.profile, {
          access: 'write',
          signal: () => signal,
          hidden: () => globs,
          permitHost: createHostPermit(admitted, scope),
        })
        const run: Commands['run'] = (command) => track(commands.run({ ...command, live: true }))
        return open({ signal, commands: { ...commands, run } })
      })
      // The key names the tool, which alone puts things there, under names of its own.
      return kept as Opened
    },
  }
}
