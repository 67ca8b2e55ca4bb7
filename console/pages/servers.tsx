import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { mayOperate, me, type FaultyEntry, type JsonObject, type ServerRow } from '../api.ts'
import { pauses } from '../events.ts'
import { AddServer } from '../parts/add-server.tsx'
import { ImportServers, SearchRegistry } from '../parts/find-servers.tsx'
import { WriteServers, type ServerChanges } from '../parts/write-servers.tsx'
import { Fault } from '../parts/fault.tsx'
import { StopButton } from '../parts/stop-button.tsx'
import { countOf, Value } from '../parts/text.tsx'
import { useAsked } from '../parts/use-asked.ts'
import { useChange } from '../parts/use-change.ts'

interface Servers {
  readonly servers: readonly ServerRow[]
  readonly faulty: readonly FaultyEntry[]
  readonly notices: readonly string[]
  readonly isBehind: boolean
}

/** How soon it is looked again for what is still to come: the gateway reads the file soon after it was written, and servers take their time to start. */
const nextMs = 1_000

/** The MCP servers, and where each stands. */
export function ServersPage() {
  const { answer, fault, again } = useAsked<Servers>('/api/servers')
  useEffect(() => {
    if (answer?.isBehind !== true && !answer?.servers.some(({ state }) => state === 'connecting'))
      return undefined
    const timer = setTimeout(again, nextMs)
    return () => clearTimeout(timer)
  }, [answer])
  return (
    <>
      <div class="head">
        <h1>Servers</h1>
        <span role="status">{answer !== undefined && countOf(answer.servers.length, 'server')}</span>
        <button type="button" onClick={again}>
          Look again
        </button>
      </div>
      <Fault text={fault} />
      {mayOperate() && me.value?.tenant === undefined && <Setup onWritten={again} />}
      {answer?.servers.length === 0 && answer.faulty.length === 0 && (
        <p class="empty">
          There is no MCP server yet. Add one here, or at a terminal:{' '}
          <code>handrail mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv/docs</code>
        </p>
      )}
      {answer?.faulty.map(({ server, messages }) => (
        <p key={server} class="danger">
          {server === '' ? 'mcp.json' : server} is left out: {messages.join(' ')}
        </p>
      ))}
      {answer?.notices.map((notice) => (
        <p key={notice}>{notice}</p>
      ))}
      {answer?.servers.map((server) => (
        <Server key={server.server} {...server} again={again} />
      ))}
    </>
  )
}

/** What is meant by the state of a server. */
const states: { readonly [state: string]: string } = {
  open: 'It is connected.',
  idle: 'Its tools are known. It is started when one of them is called.',
  connecting: 'It is being started.',
  failed: 'It could not be reached. The next call tries again.',
  shared: 'Other tenants use it too.',
}

function Server({
  server,
  state,
  revision,
  tools,
  held,
  tenant,
  leftOut,
  wantsLogin,
  fault,
  remedy,
  log,
  again,
}: ServerRow & { again: () => void }) {
  return (
    <section class="card server" aria-label={server}>
      <div class="head">
        <h2>
          {server}{' '}
          <span class={`outcome ${state === 'open' ? 'ok' : state}`} title={states[state]}>
            {state}
            {revision !== undefined && <small> {revision}</small>}
          </span>
          {wantsLogin && <span class="tag danger">login needed</span>}
          {pauses.value.some((pause) => pause.server === server) && <span class="tag danger">paused</span>}
        </h2>
        <StopButton what={server} scope={{ server }} />
      </div>
      {fault !== undefined && <p class="danger">{fault}</p>}
      {wantsLogin && mayOperate(tenant) && <LogInButton server={server} tenant={tenant} again={again} />}
      {remedy !== undefined && <Value value={remedy} label={`What to do about ${server}`} />}
      {leftOut.map(({ tool, message }) => (
        <p key={tool} class="danger">
          {tool} is left out: {message}
        </p>
      ))}
      <p>
        {tools.length === 0
          ? 'It has shown no tools yet.'
          : tools.map((tool) => (
              <span key={tool}>
                <a href={`/tools/${encodeURIComponent(tool)}`}>{tool}</a>
                {held.includes(tool) && <span class="tag">waits for approval</span>}{' '}
              </span>
            ))}
      </p>
      {mayOperate() && me.value?.tenant === undefined && <Entry server={server} onWritten={again} />}
      {log !== undefined && (
        <details>
          <summary>What it said last</summary>
          <Value value={log} label={`What ${server} said last`} />
        </details>
      )}
    </section>
  )
}

/** Leads the browser to the page where the server's people log in, and back. */
function LogInButton({
  server,
  tenant,
  again,
}: {
  server: string
  tenant: string | undefined
  again: () => void
}) {
  const change = useChange()
  const query = tenant === undefined ? '' : `?tenant=${encodeURIComponent(tenant)}`
  const logIn = async (): Promise<void> => {
    const path = `/api/servers/${encodeURIComponent(server)}/login${query}`
    const answer = await change.make<{ readonly url?: string }>(path, {})
    if (answer?.url !== undefined) location.assign(answer.url)
    else if (answer !== undefined) again()
  }
  return (
    <div class="bar">
      <button type="button" class="allow" disabled={change.isBusy} onClick={() => void logIn()}>
        Log in at {server}
      </button>
      <Fault text={change.fault} />
    </div>
  )
}

/** What adds servers: pasted, taken over, or found. */
function Setup({ onWritten }: { onWritten: () => void }) {
  const [text, name] = [useSignal(''), useSignal('')]
  const isOpen = useSignal(false)
  return (
    <>
      <details open={isOpen.value} onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
        <summary>Add a server</summary>
        <AddServer text={text} name={name} onWritten={onWritten} />
      </details>
      <ImportServers onWritten={onWritten} />
      <SearchRegistry
        onPicked={(picked, entry) => {
          text.value = JSON.stringify(entry, null, 2)
          name.value = picked
          isOpen.value = true
        }}
      />
    </>
  )
}

interface Opening {
  readonly what: string
  readonly fields: JsonObject
}

/** The entry of a server: what would let it have what it was kept from, and taking it out. */
function Entry({ server, onWritten }: { server: string; onWritten: () => void }) {
  const changes = useSignal<ServerChanges | undefined>(undefined)
  const { answer, fault } = useAsked<{ readonly openings: readonly Opening[] }>(
    `/api/servers/${encodeURIComponent(server)}/entry`,
  )
  if (changes.value !== undefined)
    return (
      <WriteServers
        changes={changes.value}
        onWritten={() => {
          changes.value = undefined
          onWritten()
        }}
        onLeft={() => (changes.value = undefined)}
      />
    )
  return (
    <div class="bar entry">
      <Fault text={fault} />
      {answer?.openings.map(({ what, fields }) => (
        <button key={what} type="button" onClick={() => (changes.value = { [server]: { fields } })}>
          Allow {what}…
        </button>
      ))}
      {answer !== undefined && (
        <button type="button" class="deny" onClick={() => (changes.value = { [server]: { remove: true } })}>
          Remove {server}…
        </button>
      )}
    </div>
  )
}
