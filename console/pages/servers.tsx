import type { FaultyEntry, ServerRow } from '../api.ts'
import { Fault } from '../parts/fault.tsx'
import { StopButton } from '../parts/stop-button.tsx'
import { Value } from '../parts/text.tsx'
import { useAsked } from '../parts/use-asked.ts'

interface Servers {
  readonly servers: readonly ServerRow[]
  readonly faulty: readonly FaultyEntry[]
  readonly notices: readonly string[]
}

/** The MCP servers, and where each stands. */
export function ServersPage() {
  const { answer, fault, again } = useAsked<Servers>('/api/servers')
  return (
    <>
      <h1>Servers</h1>
      <div class="bar">
        <button type="button" onClick={again}>
          Look again
        </button>
        <span role="status">{answer !== undefined && `${answer.servers.length} servers`}</span>
      </div>
      <Fault text={fault} />
      {answer?.servers.length === 0 && answer.faulty.length === 0 && (
        <p class="empty">
          There is no MCP server. One stands in <code>mcp.json</code>, under <code>mcpServers</code>.
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
        <Server key={server.server} {...server} />
      ))}
    </>
  )
}

function Server({
  server,
  state,
  revision,
  tools,
  held,
  leftOut,
  wantsLogin,
  fault,
  remedy,
  log,
}: ServerRow) {
  return (
    <section class="card" aria-label={server}>
      <h2>
        {server}{' '}
        <span class={`outcome ${state === 'open' ? 'ok' : state}`}>
          {state}
          {revision !== undefined && <small> {revision}</small>}
        </span>
        {wantsLogin && <span class="tag danger">login needed</span>}
      </h2>
      <StopButton what={server} scope={{ server }} />
      {fault !== undefined && <p class="danger">{fault}</p>}
      {remedy !== undefined && <Value value={remedy} label={`What to do about ${server}`} />}
      {leftOut.map(({ tool, message }) => (
        <p key={tool} class="danger">
          {tool} is left out: {message}
        </p>
      ))}
      <p>
        {tools.length === 0
          ? 'No tools are known of it.'
          : tools.map((tool) => (
              <span key={tool}>
                <a href={`/tools/${encodeURIComponent(tool)}`}>{tool}</a>
                {held.includes(tool) && <span class="tag">waits for approval</span>}{' '}
              </span>
            ))}
      </p>
      {log !== undefined && (
        <details>
          <summary>What it said last</summary>
          <Value value={log} label={`What ${server} said last`} />
        </details>
      )}
    </section>
  )
}
