import { hash } from 'node:crypto'
import type { Lowering } from './lowering.ts'

/** The name of a property as the provider takes it. The name depends on the property alone; `work.keys` finds the way back. */
export function lowerKey(key: string, work: Pick<Lowering, 'rules' | 'keys'>): string {
  const rule = work.rules.find('property-key')
  if (rule === undefined || rule.pattern.test(key)) return key
  const plain = key.replaceAll(/[^a-zA-Z0-9_.-]/g, '_').slice(0, 52)
  const lowered = `${plain}_x${hash('sha256', key, 'hex').slice(0, 10)}`
  work.keys.set(lowered, key)
  return lowered
}
