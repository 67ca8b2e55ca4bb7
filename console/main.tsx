import { signal } from '@preact/signals'
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { messageOf } from '../src/kit/text/message-of.ts'
import { leave, logIn, me, type Me } from './api.ts'
import { follow, isConnected, waiting } from './events.ts'
import { AccessPage } from './pages/access.tsx'
import { BudgetsPage } from './pages/budgets.tsx'
import { CallPage } from './pages/call.tsx'
import { EvidencePage } from './pages/evidence.tsx'
import { InboxPage } from './pages/inbox.tsx'
import { LivePage } from './pages/live.tsx'
import { LogInPage } from './pages/log-in.tsx'
import { OverviewPage } from './pages/overview.tsx'
import { PolicyPage } from './pages/policy.tsx'
import { RunPage, RunsPage } from './pages/runs.tsx'
import { ServersPage } from './pages/servers.tsx'
import { ToolPage, ToolsPage } from './pages/tools.tsx'
import { Fault } from './parts/fault.tsx'
import { followNotices } from './parts/inbox/notices.tsx'
import { NotThereYet } from './parts/not-there-yet.tsx'
import { PauseBanner } from './parts/pause-banner.tsx'
import { followLinks, path } from './route.ts'

const places = [
  ['/inbox', 'Inbox'],
  ['/live', 'Live'],
  ['/runs', 'Runs'],
  ['/tools', 'Tools'],
  ['/servers', 'Servers'],
  ['/policy', 'Policy'],
  ['/budgets', 'Budgets'],
  ['/evidence', 'Evidence'],
  ['/overview', 'Overview'],
  ['/access', 'Access'],
] as const

/** Why the person could not be let in, or out. */
const fault = signal<string | undefined>(undefined)

function tellFault(change: Promise<void>): void {
  fault.value = undefined
  change.catch((error: unknown) => void (fault.value = messageOf(error)))
}

function Console() {
  const visitor = me.value
  useEffect(() => {
    if (!visitor) return undefined
    follow()
    return followNotices()
  }, [visitor?.actor])
  if (visitor === undefined) return <NotThereYet fault={fault.value} />
  if (visitor === null) return <LogInPage />
  const count = waiting.value.size
  document.title = `${count > 0 ? `(${count}) ` : ''}Handrail`
  return (
    // Links inside change the page only.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions
    <div onClick={followLinks}>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header>
        <strong>Handrail</strong>
        <nav aria-label="Pages">
          {places.map(([href, name]) => (
            <a key={href} href={href} aria-current={isAt(href) ? 'page' : undefined}>
              {name}
              {name === 'Inbox' && <span class={count > 0 ? 'count' : 'count none'}>{count}</span>}
            </a>
          ))}
        </nav>
        <span class="who">
          <span title={visitor.actor}>{visitor.name}</span> · {describeRoles(visitor)}
          {!isConnected.value && <span class="warn"> · reconnecting…</span>}{' '}
          <button type="button" onClick={() => tellFault(leave())}>
            Leave
          </button>
        </span>
      </header>
      <Fault text={fault.value} />
      <PauseBanner />
      <main id="main" tabIndex={-1}>
        <Page />
      </main>
    </div>
  )
}

function describeRoles({ roles }: Me): string {
  return roles.map(({ tenant, role }) => (tenant === '*' ? role : `${role} of ${tenant}`)).join(', ')
}

function isAt(href: string): boolean {
  return path.value === href || path.value.startsWith(`${href}/`) || (href === '/inbox' && path.value === '/')
}

function Page() {
  const [, page = '', id = ''] = path.value.split('/')
  const name = decodeURIComponent(id)
  switch (page) {
    case '':
    case 'inbox':
      return <InboxPage />
    case 'live':
      return <LivePage />
    case 'calls':
      return <CallPage key={name} call={name} />
    case 'runs':
      return name === '' ? <RunsPage /> : <RunPage key={name} run={name} />
    case 'tools':
      return name === '' ? <ToolsPage /> : <ToolPage key={name} tool={name} />
    case 'servers':
      return <ServersPage />
    case 'policy':
      return <PolicyPage />
    case 'budgets':
      return <BudgetsPage />
    case 'overview':
      return <OverviewPage />
    case 'access':
      return <AccessPage />
    case 'evidence':
      return <EvidencePage />
    default:
      return (
        <p class="empty">
          There is no such page. <a href="/inbox">Inbox</a>
        </p>
      )
  }
}

const root = document.getElementById('console')
if (root !== null) render(<Console />, root)
tellFault(logIn())
