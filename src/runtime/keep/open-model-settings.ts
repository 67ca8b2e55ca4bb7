import { ToolFailure } from '../../contract/base/errors.ts'
import type { ModelSettings } from '../../contract/base/services.ts'
import { redactorOf } from '../record/treatments.ts'
import type { Admitted } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'

/** What models set for the tenant and actor of a call, as long as it has not ended. */
export function openModelSettings(
  { registered }: Pick<Admitted, 'registered'>,
  scope: CallScope,
  ended: () => boolean,
): ModelSettings {
  const { tenant, session } = scope
  const { store } = tenant
  const redactor = redactorOf(registered, scope)
  const { tenant: of, actor: group } = session.principal
  return {
    read: (id) => store.documents({ tenant: of, kind: 'setting', group, id })[0]?.value,
    async write(id, given) {
      const value = redactor.json(given)
      if (ended())
        throw new ToolFailure({
          code: 'TOOL.ABORTED',
          reason: 'aborted_by_user',
          message: 'The call ended before its change could be made. Nothing was changed.',
        })
      await store.append([], { documents: [{ tenant: of, kind: 'setting', group, id, value }] })
    },
  }
}
