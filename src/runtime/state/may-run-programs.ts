import type { Halted } from './call-state.ts'

/** Whether a call could have run programs: its tool is handed commands, or its plan names a program. */
export function mayRunPrograms({ registered, plan }: Halted['state']): boolean {
  if (registered === undefined) return false
  const isHanded = registered.definition.needs.includes('commands')
  return isHanded || plan?.operations.some(({ kind }) => kind === 'process') === true
}
