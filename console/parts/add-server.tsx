import { useSignal, type Signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { secretNames } from '../../src/kit/secrets/secret-names.ts'
import type { TrialRow } from '../api.ts'
import { Fault } from './fault.tsx'
import { Value } from './text.tsx'
import { useChange } from './use-change.ts'
import { WriteServers } from './write-servers.tsx'

interface Adding {
  /** What is pasted; a search may fill it in. */
  readonly text: Signal<string>
  readonly name: Signal<string>
  readonly onWritten: () => void
}

/** Adds a server from what a person pastes: it is tried, and its entry is shown before it is written. */
export function AddServer({ text, name, onWritten }: Adding) {
  const change = useChange()
  const trials = useSignal<readonly TrialRow[]>([])
  /** What the trials are of: the text may be another one by now. */
  const tried = useRef<object>({})
  const attempt = async (allowed: object = {}): Promise<void> => {
    trials.value = []
    const answer = await change.make<{ readonly trials: readonly TrialRow[] }>('/api/servers/try', {
      ...tried.current,
      ...allowed,
    })
    if (answer !== undefined) trials.value = answer.trials
  }
  return (
    <>
      <form
        aria-label="Add a server"
        onSubmit={(event) => {
          event.preventDefault()
          const called = name.value.trim()
          tried.current = { text: text.value, ...(called !== '' && { name: called }) }
          void attempt()
        }}
      >
        <p>
          <label>
            The JSON of any client, a command or a URL
            <textarea
              rows={5}
              value={text.value}
              spellcheck={false}
              placeholder="npx -y @modelcontextprotocol/server-filesystem /srv/docs"
              onInput={(event) => (text.value = event.currentTarget.value)}
            />
          </label>
        </p>
        <div class="bar">
          <label>
            Name{' '}
            <input
              value={name.value}
              placeholder="as it says"
              onInput={(event) => (name.value = event.currentTarget.value)}
            />
          </label>
          <button type="submit" disabled={change.isBusy || text.value.trim() === ''}>
            {change.isBusy ? 'Trying…' : 'Try it'}
          </button>
          <span role="status">
            {change.isBusy && 'It is started in its sandbox; a package may take a while.'}
          </span>
        </div>
      </form>
      <Fault text={change.fault} />
      {trials.value.map((trial) => (
        <Tried
          key={`${trial.name} ${trial.own.join()}`}
          trial={trial}
          again={attempt}
          isBusy={change.isBusy}
          onWritten={() => {
            trials.value = []
            text.value = ''
            name.value = ''
            onWritten()
          }}
          onLeft={() => (trials.value = trials.value.filter((each) => each !== trial))}
        />
      ))}
    </>
  )
}

interface TriedAbout {
  readonly trial: TrialRow
  readonly again: (allowed: object) => Promise<void>
  readonly isBusy: boolean
  readonly onWritten: () => void
  readonly onLeft: () => void
}

/** What came of a trial, and what a person may allow before the next one. */
function Tried({ trial, again, isBusy, onWritten, onLeft }: TriedAbout) {
  const hosts = useSignal<readonly string[]>([])
  const folders = useSignal<readonly string[]>([])
  const variables = useSignal<readonly string[]>([])
  const { name, entry, works, tools, fault, remedy, log } = trial
  return (
    <section class="card" aria-label={`${name}, as it was tried`}>
      <h2>
        {name}{' '}
        <span class={`outcome ${works ? 'ok' : 'failed'}`}>{works ? 'works' : 'does not work yet'}</span>
        {trial.wantsLogin && <span class="tag danger">login needed</span>}
      </h2>
      {fault !== undefined && <p class="danger">{fault}</p>}
      {works && <p>{tools.length === 0 ? 'It has no tools.' : `Its tools: ${tools.join(', ')}`}</p>}
      {trial.packages.length > 0 && <p>Fetched: {trial.packages.join(', ')}</p>}
      {Object.keys(trial.added).length > 0 && (
        <p>
          Its own words need more than it was given, so this was added:{' '}
          <code>{JSON.stringify(trial.added)}</code>
        </p>
      )}
      {trial.unset.map((variable) => (
        <p key={variable} class="warn">
          {variable} is not set for Handrail: set it where that is started.
        </p>
      ))}
      {works &&
        secretNames(JSON.stringify(entry))
          .filter((variable) => !trial.unset.includes(variable))
          .map((variable) => (
            <p key={variable} class="warn">
              {variable} is read when Handrail starts: start it again once the entry is written.
            </p>
          ))}
      {trial.notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
      {remedy !== undefined && <Value value={remedy} label={`What to do about ${name}`} />}
      <Choices
        what="Variables of the environment of Handrail that it would be given"
        all={trial.own}
        chosen={variables}
      />
      <Choices what="Hosts that it asked for and was kept from" all={trial.hosts} chosen={hosts} />
      <Choices what="Folders that it could not write to" all={trial.folders} chosen={folders} />
      <Choices what="Variables that it says it needs" all={trial.variables} chosen={variables} />
      {hosts.value.length + folders.value.length + variables.value.length > 0 && (
        <button
          type="button"
          disabled={isBusy}
          onClick={() =>
            void again({ hosts: hosts.value, folders: folders.value, variables: variables.value })
          }
        >
          Try again with that
        </button>
      )}
      {log !== undefined && (
        <details>
          <summary>What it said</summary>
          <Value value={log} label={`What ${name} said`} />
        </details>
      )}
      {Object.keys(entry).length > 0 && trial.own.length === 0 && (
        <WriteServers changes={{ [name]: { entry } }} onWritten={onWritten} onLeft={onLeft} />
      )}
    </section>
  )
}

/** Boxes of which a person ticks some. */
export function Choices({
  what,
  all,
  chosen,
}: {
  what: string
  all: readonly string[]
  chosen: Signal<readonly string[]>
}) {
  if (all.length === 0) return null
  return (
    <fieldset>
      <legend>{what}</legend>
      {all.map((each) => (
        <label key={each} class="choice">
          <input
            type="checkbox"
            checked={chosen.value.includes(each)}
            onChange={(event) => {
              const rest = chosen.value.filter((other) => other !== each)
              chosen.value = event.currentTarget.checked ? [...rest, each] : rest
            }}
          />{' '}
          {each}
        </label>
      ))}
    </fieldset>
  )
}
