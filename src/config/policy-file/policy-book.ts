import { SetupError } from '../../contract/base/errors.ts'
import type { Document, DocumentChange } from '../../contract/documents.ts'
import type { Policy } from '../../contract/policy.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import type { Store } from '../../contract/store.ts'
import { isDocumentChanged } from '../../kit/result/is-document-changed.ts'
import { whileChanging } from '../base/while-changing.ts'
import { digestOf, readPolicy, readPolicyText, writePolicyText, type PolicyText } from './policy-text.ts'
import { readVersion, toVersionValue, type KeptVersion, type PolicyVersion } from './policy-version.ts'

export type { PolicyVersion } from './policy-version.ts'

/** A change of the policy file. */
export interface PolicySave {
  readonly text: string
  /** Of the text that was read before it was changed. */
  readonly digest: string
  /** Who saves it. */
  readonly by: string
  /** What for, in words. */
  readonly reason?: string
}

/** The policy file of a home, and what became of it. */
export interface PolicyBook {
  /** As it is on the disk now. Throws a SetupError if it cannot be read. */
  read(): PolicyText
  /** What a text says as a policy, or all that is wrong with it. */
  check(text: string): ReturnType<typeof readPolicy>
  /** The policy of the file; if that cannot be used, the one of the last version that can, which is in force then. */
  present(): { readonly policy: Policy; readonly isOld: boolean }
  /** Keeps what a person, or another program, wrote into the file. Of a file that cannot be used nothing is kept. */
  notice(): Promise<void>
  /**
   * Writes the file as a whole, keeps the version, and notes in the evidence who did it. Throws a SetupError, and then nothing was changed: `file_changed`
   * if the file is not what was read, or another person is faster; `invalid_configuration` for a policy with an issue.
   */
  save(save: PolicySave): Promise<PolicyVersion>
  /** The newest first. */
  versions(): readonly PolicyVersion[]
}

type BookStore = Pick<Store, 'append' | 'documents' | 'lives' | 'writer'>

interface BookParts {
  readonly home: string
  readonly store: BookStore
  readonly checker: SchemaChecker
  readonly now?: () => number
}

export function openPolicyBook({ home, store, checker, now = Date.now }: BookParts): PolicyBook {
  const read = (): PolicyText => readPolicyText(home)
  // One change after the other: another process is kept out by the number of the version.
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const done = last.then(act, act)
    last = done.catch(() => {})
    return done
  }
  const notice = async (): Promise<readonly KeptVersion[]> => {
    const known = await settle(store, read)
    const { text, digest } = read()
    if (text === '' || known[0]?.digest === digest || 'faults' in readPolicy(text, checker)) return known
    // Another one is about to write it.
    if (known[0]?.state === 'saving') return known
    const { writer } = store
    const version = (known[0]?.version ?? 0) + 1
    await put(store, { version, text, digest, at: now(), state: 'saved', writer })
    return list(store)
  }
  return {
    read,
    check: (text) => readPolicy(text, checker),
    present() {
      const said = readPolicy(read().text, checker)
      if ('policy' in said) return { policy: said.policy, isOld: false }
      const before = list(store).find(({ state }) => state === 'saved')
      const known = before && readPolicy(before.text, checker)
      if (known !== undefined && 'policy' in known) return { policy: known.policy, isOld: true }
      throw new SetupError(
        'invalid_configuration',
        `The policy in ${read().name} cannot be used, and no version before it is kept. Mend it first.`,
      )
    },
    notice: async () => void (await inTurn(notice)),
    save: (save) =>
      inTurn(async () => {
        const said = readPolicy(save.text, checker)
        if ('faults' in said)
          throw new SetupError(
            'invalid_configuration',
            'The policy has issues. Nothing was changed:',
            said.faults.map(({ pointer, message }) => ({ pointer, code: 'invalid_policy', message })),
          )
        const known = await notice()
        if (known[0]?.state === 'saving') throw changed(read())
        return write(save, { home, store, read, now, version: (known[0]?.version ?? 0) + 1 })
      }),
    versions: () =>
      list(store)
        .filter(({ state }) => state === 'saved')
        .map(({ state: _state, writer: _writer, value: _value, ...version }) => version),
  }
}

interface Writing {
  readonly home: string
  readonly store: BookStore
  readonly read: () => PolicyText
  readonly now: () => number
  readonly version: number
}

/** First says in the store what is about to be written: of a process that dies after that, the author of the file is known. */
async function write(save: PolicySave, { home, store, read, now, version }: Writing): Promise<PolicyVersion> {
  const { text, by, digest: before, reason } = save
  const about = {
    version,
    text,
    digest: digestOf(text),
    at: now(),
    by,
    ...(reason !== undefined && { reason }),
  }
  const kept = { ...about, state: 'saving', writer: store.writer } as const
  if (!(await put(store, kept))) throw changed(read())
  try {
    whileChanging(home, () => {
      const current = read()
      if (current.digest !== before) throw changed(current)
      writePolicyText(current, text)
    })
  } catch (error) {
    await store.append([], { documents: [{ ...placeOf(version), value: undefined }] })
    throw error
  }
  await finish(store, { ...kept, value: toVersionValue(kept) })
  return about
}

function changed({ name }: PolicyText): SetupError {
  return new SetupError(
    'file_changed',
    `${name} was changed since it was read, so nothing was written. Load it again, and make the change to what it says now.`,
  )
}

/** What a process that died was about to write was written, or was not. */
async function settle(store: BookStore, read: () => PolicyText): Promise<readonly KeptVersion[]> {
  const known = list(store)
  const [newest] = known
  const isOver = newest?.state === 'saving' && (newest.writer === store.writer || !store.lives(newest.writer))
  if (newest === undefined || !isOver) return known
  if (read().digest === newest.digest) await finish(store, newest)
  else await store.append([], { documents: [{ ...placeOf(newest.version), value: undefined }] })
  return list(store)
}

/** Keeps a version as saved, and notes who saved it. */
async function finish(store: BookStore, kept: KeptVersion): Promise<void> {
  const { version, at, by = '', digest, reason, value: was } = kept
  const message = `${by} saved version ${version} of the policy file${reason === undefined ? '' : `: ${reason}`}`
  const record = {
    kind: 'note',
    event: 'policy_saved',
    tenant: 'local',
    session: '',
    at,
    actor: by,
    message,
    data: { version, digest },
  } as const
  const saved = { ...placeOf(version), value: toVersionValue({ ...kept, state: 'saved' }), was }
  try {
    await store.append([{ record, body: null }], { documents: [saved] })
  } catch (error) {
    // Another process found it, and noted it.
    if (!isDocumentChanged(error)) throw error
  }
}

/** False if another one was faster. */
async function put(store: BookStore, kept: Omit<KeptVersion, 'value'>): Promise<boolean> {
  const document: DocumentChange = { ...placeOf(kept.version), value: toVersionValue(kept), was: null }
  try {
    await store.append([], { documents: [document] })
    return true
  } catch (error) {
    if (isDocumentChanged(error)) return false
    throw error
  }
}

function placeOf(version: number): Omit<Document, 'value'> {
  // Ids are in order as texts.
  return { tenant: 'local', kind: 'policy_version', group: 'policy', id: String(version).padStart(10, '0') }
}

/** The newest first. */
function list(store: BookStore): readonly KeptVersion[] {
  return store
    .documents({ tenant: 'local', kind: 'policy_version', group: 'policy', newestFirst: true })
    .flatMap(({ value }) => readVersion(value) ?? [])
}
