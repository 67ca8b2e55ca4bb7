import type { Companions } from '../../contract/base/companion.ts'
import type { Commands } from '../../contract/base/sandbox.ts'
import type { Road } from '../state/ground.ts'
import type { Admitted } from '../state/passage.ts'
import { createHostPermit } from '../permission/permit-host.ts'
import { refuseCounted } from '../state/refuse-counted.ts'

/** What tools keep for a session, as one of its calls may use it. What it opens is bound to what it may touch. */
export function createSessionCompanions(
  admitted: Admitted,
  road: Road,
  hidden: () => readonly string[],
): Companions {
  const { sandbox } = road.ground
  return {
    keep<Kept>(name: string, open: Parameters<Companions['keep']>[1]): Kept {
      refuseCounted(admitted, 'a program that goes on', 'Go on without it.')
      const globs = hidden()
      const { definition } = admitted.registered
      const key = JSON.stringify([definition.name, name, admitted.profile.digest, globs])
      const kept = road.session.companions.keep(key, ({ signal, track }) => {
        const { commands } = sandbox.enter(admitted.profile, {
          access: 'write',
          signal: () => signal,
          hidden: () => globs,
          permitHost: createHostPermit(admitted, road),
        })
        const run: Commands['run'] = (command) => track(commands.run(command))
        return open({ signal, commands: { ...commands, run } })
      })
      // The key names the tool, which alone puts things there, under names of its own.
      return kept as Kept
    },
  }
}
