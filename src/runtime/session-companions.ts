import type { Companions } from '../contract/companion.ts'
import type { Commands } from '../contract/sandbox.ts'
import type { Road } from './ground.ts'
import type { Admitted } from './passage.ts'
import { createHostPermit } from './permit-host.ts'
import { refuseCounted } from './refuse-counted.ts'

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
