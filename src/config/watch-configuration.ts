import { SetupError } from '../contract/base/errors.ts'
import type { Issue } from '../contract/base/json.ts'
import type { PolicyChange } from '../contract/runtime.ts'
import type { SchemaChecker } from '../contract/base/schema.ts'
import { canonicalJson } from '../kit/json/canonical-json.ts'
import { watchFiles } from '../kit/watch-files.ts'
import { configurationPaths, loadConfiguration, type LoadedConfiguration } from './load-configuration.ts'
import { findWaitingFields, toPolicyChange } from './to-policy-change.ts'

/** A new version of the files, free of issues. */
export interface NewConfiguration {
  loaded: LoadedConfiguration
  /** What a living runtime takes over. */
  change: Required<PolicyChange>
  /** Fields that differ from those at the start and wait for the next one. */
  waiting: readonly string[]
}

export interface WatchOptions {
  places: { home: string; project: string }
  checker: SchemaChecker
  /** What is in force. What differs from it already is called back soon. */
  current: LoadedConfiguration
  /** Called once for each new version, one after the other. If it fails, the version before stays in force. */
  onChange(version: NewConfiguration): void | Promise<void>
  /** Called after each edit that leaves something that cannot be used; what was in force before it stays so. */
  onError(error: unknown): void
}

/**
 * Watches the files of a person and of a project. A file that was there and is gone is an issue: without it, what it denied would be
 * allowed. Does not keep the process alive. Close it.
 */
export function watchConfiguration(options: WatchOptions): { close(): Promise<void> } {
  const { places, checker, current } = options
  let inForce = current
  let isRefused = false

  const read = async (): Promise<void> => {
    try {
      const loaded = loadNew(inForce, places, checker)
      if (!isRefused && isSame(inForce, loaded)) return
      await options.onChange({
        loaded,
        change: toPolicyChange(loaded),
        waiting: findWaitingFields(current, loaded),
      })
      inForce = loaded
      isRefused = false
    } catch (error) {
      isRefused = true
      options.onError(error)
    }
  }
  const paths = configurationPaths(places)
  return watchFiles(() => paths, read)
}

function loadNew(
  before: LoadedConfiguration,
  places: WatchOptions['places'],
  checker: SchemaChecker,
): LoadedConfiguration {
  try {
    const after = loadConfiguration(places, checker)
    const gone = before.files.filter((place) => !after.files.includes(place))
    if (gone.length === 0) return after
    throw refusal(gone.map((pointer) => ({ pointer, code: 'missing', message: goneMessage })))
  } catch (error) {
    throw error instanceof SetupError ? refusal(error.issues) : error
  }
}

const goneMessage = 'It is gone. Put it back; to say nothing, write {} there.'

function refusal(issues: readonly Issue[]): SetupError {
  return new SetupError(
    'invalid_configuration',
    'The new configuration cannot be used, and the one before stays in force:',
    issues,
  )
}

function isSame(before: LoadedConfiguration, after: LoadedConfiguration): boolean {
  const said = ({ configuration, policy, project }: LoadedConfiguration) =>
    canonicalJson([configuration, policy, project])
  return said(before) === said(after)
}
