import type { Consent, Consents } from '../../contract/consent.ts'
import type { Registered } from '../../contract/registry.ts'

/** The standing consents, as the pipeline asks for them. */
export interface ConsentBook extends Consents {
  /** The consent of this id, of whatever state, in this tenant; `other` if another tenant has it. */
  find(tenant: string, id: string): Consent | 'other' | undefined
  /** Whether the tenant ever had one. Cheap. */
  any(tenant: string): boolean
  /** One that covers this use now. */
  covering(use: ConsentUse): Consent | undefined
}

/** What a consent must cover. */
export interface ConsentUse {
  tenant: string
  actor: string
  registered: Pick<Registered, 'definition' | 'identity'>
  /** The scope of the plan, if it has one. */
  scope: string | undefined
  /** The digest of the input. */
  input(): string
  /** Milliseconds since the epoch. */
  at: number
}
