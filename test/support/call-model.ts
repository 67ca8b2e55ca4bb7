/** What a call is, in the few ways in which calls of a feature pair differ. */
export interface ModelCall {
  readonly tenant: 'local' | 'acme'
  readonly actor: 'ann' | 'bob'
  readonly role: 'main' | 'orchestrator' | 'sub'
  readonly mode: 'default' | 'accept-edits' | 'bypass' | 'plan'
  readonly key: 'order-1' | 'order-2' | undefined
  readonly input: number
  /** What the person says, if they are asked. */
  readonly answer: 'allow_once' | 'allow_for_session' | 'deny' | 'fail'
  readonly abort: 'no' | 'before' | 'while it runs'
}

/** An input: what it reaches, what a yes for the session covers, and what of it is a secret. */
export interface ModelInput {
  readonly path: string
  readonly scope: string | undefined
  readonly token: string | undefined
}

const [first, second] = ['a', 'b'].map((letter) => `ghp_${letter.repeat(36)}`)

/** Two that reach different folders, two that differ in a secret alone, and one that reaches a secret. */
export const inputs: readonly ModelInput[] = [
  { path: 'open/a', scope: 'open', token: undefined },
  { path: 'secret/a', scope: 'secret', token: undefined },
  { path: 'open/b', scope: undefined, token: first },
  { path: 'open/b', scope: undefined, token: second },
  { path: `open/${first}`, scope: undefined, token: undefined },
]

/** What the operator may put in force. */
export type PolicyName =
  | 'nothing'
  | 'allow'
  | 'deny'
  | 'deny files'
  | 'deny sub secret'
  | 'ask'
  | 'hide'
  | 'ann only'

/** How a call ends, as far as its caller and its tool can tell. */
export interface Ending {
  readonly end: 'ran' | 'kept' | 'denied' | 'aborted' | 'conflict' | 'unknown'
  /** How often a person was asked. */
  readonly asked: number
  /** What the tool returned, as it may leave; undefined when it returned nothing. */
  readonly text: string | undefined
}

interface Kept {
  readonly input: number
  readonly outcome: 'ok' | 'aborted' | 'unknown'
  readonly text: string | undefined
  readonly approvedFor: string | undefined
  /** All that decided. */
  readonly decidedBy: string
}

/**
 * What must come out of calls, written down from the promises alone: nothing of it is shared with what it is a model of. It knows one
 * tool, which changes things and says how often it ran.
 */
export class CallModel {
  policy: PolicyName = 'nothing'
  effects = 0
  #keys = new Map<string, Kept>()
  #yeses = new Set<string>()
  #consents = new Set<string>()

  consent(tenant: string, given: boolean): void {
    if (given) this.#consents.add(tenant)
    else this.#consents.delete(tenant)
  }

  /** The process dies: what was in memory is gone. */
  die(): void {
    this.#yeses.clear()
  }

  /** One call after the other. `killed` is one that the death of its process ends, if its tool runs. */
  call(call: ModelCall, killed = false): Ending {
    if (call.mode === 'plan') return denied(0)
    if (this.policy === 'deny' || (this.policy === 'ann only' && call.actor !== 'ann')) return denied(0)
    const key = keyOf(call)
    const kept = call.key === undefined ? undefined : this.#keys.get(key)
    if (kept !== undefined && kept.input !== call.input) return { end: 'conflict', asked: 0, text: undefined }
    if (kept?.outcome === 'unknown') return { end: 'unknown', asked: 0, text: undefined }
    if (call.abort === 'before') return { end: 'aborted', asked: 0, text: undefined }
    const decidedBy = `${this.policy} ${call.role} ${call.mode}`
    if (kept !== undefined && call.input === 4 && kept.decidedBy !== decidedBy) return denied(0)
    const decision = this.#decide(call)
    if (decision === 'deny') return denied(0)
    const asks = decision === 'ask' && kept?.approvedFor !== call.role
    if (asks && (call.answer === 'deny' || call.answer === 'fail')) return denied(1)
    const asked = asks ? 1 : 0
    if (kept !== undefined) return { end: 'kept', asked, text: this.#treat(kept.text) }
    if (asks && call.answer === 'allow_for_session') this.#yeses.add(this.#yesOf(call))
    const aborted = killed || call.abort === 'while it runs'
    const text = aborted ? undefined : this.#treat(returns(++this.effects, call.input))
    if (aborted) this.effects++
    const outcome = killed ? 'unknown' : aborted ? 'aborted' : 'ok'
    const approvedFor = asks ? call.role : undefined
    if (call.key !== undefined)
      this.#keys.set(key, { input: call.input, outcome, text, approvedFor, decidedBy })
    return { end: aborted ? 'aborted' : 'ran', asked, text }
  }

  /**
   * A call, and another one with its key that comes while it is under way: the second comes out as if it came after the first, but for
   * the no of a person to one that would have run, which is a no to the same from the same, if the second comes to ask for it.
   */
  pair(one: ModelCall, other: ModelCall): readonly [Ending, Ending] {
    const isKept = this.#keys.has(keyOf(one))
    const first = this.call(one)
    const isRefused = !isKept && first.end === 'denied' && first.asked === 1 && one.answer === 'deny'
    const isSame = one.role === other.role && one.input === other.input
    const second = isRefused && isSame && this.#decide(other) === 'ask' ? denied(0) : this.call(other)
    return [first, second]
  }

  #decide(call: ModelCall): 'allow' | 'ask' | 'deny' {
    if (this.policy === 'deny files') return 'deny'
    const path = inputs[call.input]?.path ?? ''
    if (this.policy === 'deny sub secret' && call.role === 'sub' && path.startsWith('secret/')) return 'deny'
    if (this.#yeses.has(this.#yesOf(call)) || this.#consents.has(call.tenant)) return 'allow'
    if (this.policy === 'ask') return 'ask'
    if (this.policy === 'allow' || call.mode !== 'default') return 'allow'
    return 'ask'
  }

  #yesOf(call: ModelCall): string {
    return `${sessionOf(call)} ${inputs[call.input]?.scope ?? `input ${call.input}`}`
  }

  /** What the operator hides stays hidden in what was kept. */
  #treat(text: string | undefined): string | undefined {
    return this.policy === 'hide' ? text?.replace(/acct-\d+/, '[redacted]') : text
  }
}

/** Calls of the same caller in the same mode are calls of one session. */
export function sessionOf({ tenant, actor, role, mode }: ModelCall): string {
  return `${tenant} ${actor} ${role} ${mode}`
}

function keyOf({ tenant, actor, key }: ModelCall): string {
  return `${tenant} ${actor} ${key}`
}

function returns(run: number, input: number): string {
  const { path, token = 'none' } = inputs[input] ?? { path: '' }
  return `acct-${run} ${path} ${token}`.replaceAll(/ghp_[ab]{36}/g, '[redacted]')
}

function denied(asked: number): Ending {
  return { end: 'denied', asked, text: undefined }
}
