import { useSignal } from '@preact/signals'
import { useRef, useState } from 'preact/hooks'
import { ask, type ClientRow, type JsonObject, type RegistryRow } from '../api.ts'
import { messageOf } from '../../src/kit/text/message-of.ts'
import { Choices } from './add-server.tsx'
import { Fault } from './fault.tsx'
import { WriteServers } from './write-servers.tsx'

interface Looked<Answer> {
  readonly answer?: Answer
  readonly fault?: string
}

/** Asks only if a person says so. What was asked last counts, in whatever order answers come. */
function useLook<Answer>(): [Looked<Answer>, (path: string) => Promise<void>] {
  const [looked, setLooked] = useState<Looked<Answer>>({})
  const last = useRef(0)
  const look = async (path: string): Promise<void> => {
    const own = ++last.current
    const told = await ask<Answer>(path).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ fault: messageOf(error) }),
    )
    if (last.current === own) setLooked(told)
  }
  return [looked, look]
}

/** Takes over servers of other programs on this machine. */
export function ImportServers({ onWritten }: { onWritten: () => void }) {
  const [{ answer, fault }, look] = useLook<{ readonly clients: readonly ClientRow[] }>()
  return (
    <details onToggle={(event) => event.currentTarget.open && void look('/api/clients')}>
      <summary>Import from another program</summary>
      <Fault text={fault} />
      {answer?.clients.length === 0 && (
        <p class="empty">No program with servers of its own was found here.</p>
      )}
      {answer?.clients.map((client) => (
        <ClientServers key={client.client} client={client} onWritten={onWritten} />
      ))}
    </details>
  )
}

function ClientServers({ client, onWritten }: { client: ClientRow; onWritten: () => void }) {
  const chosen = useSignal<readonly string[]>([])
  const isShown = useSignal(false)
  const { title, path, servers } = client
  const free = servers.filter(({ isHere, entry }) => !isHere && entry !== undefined)
  const changes = Object.fromEntries(
    free.flatMap(({ name, entry }) =>
      chosen.value.includes(name) && entry !== undefined ? [[name, { entry } as JsonObject] as const] : [],
    ),
  )
  return (
    <section aria-label={title}>
      <h3>
        {title} <small>{path}</small>
      </h3>
      <Fault text={client.fault} />
      {servers.map(({ name, isHere, notes }) => (
        <div key={name}>
          {isHere && <p>{name} is here already.</p>}
          {notes.map((note) => (
            <p key={note} class="warn">
              {note}
            </p>
          ))}
        </div>
      ))}
      <Choices what={`Servers of ${title}`} all={free.map(({ name }) => name)} chosen={chosen} />
      {chosen.value.length > 0 && !isShown.value && (
        <button type="button" onClick={() => (isShown.value = true)}>
          Show the change
        </button>
      )}
      {isShown.value && chosen.value.length > 0 && (
        <WriteServers changes={changes} onWritten={onWritten} onLeft={() => (isShown.value = false)} />
      )}
    </section>
  )
}

/** Searches the registry, and hands on what a person picks. */
export function SearchRegistry({ onPicked }: { onPicked: (name: string, entry: object) => void }) {
  const words = useSignal('')
  const [{ answer, fault }, look] = useLook<{
    readonly servers: readonly RegistryRow[]
    readonly registry: string
  }>()
  return (
    <details>
      <summary>Search the registry</summary>
      <form
        class="bar"
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          void look(`/api/registry?search=${encodeURIComponent(words.value)}`)
        }}
      >
        <label>
          Words <input value={words.value} onInput={(event) => (words.value = event.currentTarget.value)} />
        </label>
        <button type="submit" disabled={words.value.trim() === ''}>
          Search
        </button>
        <span role="status">
          {answer !== undefined && `${answer.servers.length} found at ${answer.registry}`}
        </span>
      </form>
      <Fault text={fault} />
      <ul class="list">
        {answer?.servers.map(({ name, title, description, version, entry, notes }) => (
          <li key={`${name} ${version}`} class="note">
            <strong>{title === '' ? name : title}</strong>{' '}
            <small>
              {name} {version}
            </small>
            <div>{description}</div>
            {notes.map((note) => (
              <div key={note}>
                <small>{note}</small>
              </div>
            ))}
            {entry !== undefined && (
              <button type="button" onClick={() => onPicked(name.split('/').at(-1) ?? name, entry)}>
                Take {name}
              </button>
            )}
          </li>
        ))}
      </ul>
    </details>
  )
}
