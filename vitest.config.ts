import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { bundleFolder, findInBundle } from './test/support/bundle.ts'
import { cheapMemory } from './test/support/cheap-memory.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether everything is done as often as it can be, and as it is for a person: `npm run test:long`. */
    isLong: boolean
  }
}

const root = fileURLToPath(new URL('.', import.meta.url))
const testFiles = ['src/**/*.test.ts', 'test/**/*.test.ts']

/** These replace a module of Node's, and so need a process of their own. */
const alone = ['src/stores/sqlite/log-sync.test.ts']

/** Parts of what is done so often that one process would be the last at it. */
const longOnly = 'test/**/*.long.test.ts'

/** What runs for minutes in `npm run test:long`, so that no worker begins with it when the others are at their end. */
const longest = /kill|crash|families|cron-times|records|property/

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const [first = [], rest = []] = [true, false].map((isLongest) =>
      files.filter(({ moduleId }) => longest.test(moduleId.slice(root.length)) === isLongest),
    )
    return [...(await super.sort(first)), ...(await super.sort(rest))]
  }
}

export default defineConfig(({ mode }) => {
  const isLong = mode === 'long'
  const include = isLong ? findLong() : testFiles
  return {
    plugins: [
      {
        // What is in a bundle below node_modules is loaded as it is; the sources would be transformed for each file of tests.
        name: 'test-the-bundle',
        enforce: 'pre',
        resolveId: (specifier, importer) =>
          importer?.startsWith(`${root}test/`) === true ? findInBundle(bundleFolder, specifier) : undefined,
      },
    ],
    test: {
      // It would keep the place of the bundle of an earlier run.
      fsModuleCache: false,
      // Tests wait for processes and disks. More workers than that take turns with each other, and make the whole slower.
      maxWorkers: 2 * availableParallelism(),
      // A bound for what hangs. It must not end what a busy machine makes slow.
      testTimeout: isLong ? 1_200_000 : 600_000,
      hookTimeout: 600_000,
      passWithNoTests: false,
      provide: { isLong },
      globalSetup: [...(isLong ? [] : ['test/support/keep-in-memory.ts']), 'test/support/build-program.ts'],
      // As in test/support/be-patient.ts.
      expect: { poll: { timeout: 180_000, interval: 10 } },
      setupFiles: [
        'test/support/stay-on-loopback.ts',
        'test/support/be-patient.ts',
        'test/support/same-cases.ts',
      ],
      sequence: { sequencer: isLong ? LongestFirst : BaseSequencer },
      // Files share their processes: a new one for each would take longer than most of them.
      isolate: false,
      execArgv: [...cheapMemory],
      projects: [
        { extends: true, test: { name: 'suite', include, exclude: isLong ? alone : [...alone, longOnly] } },
        ...(isLong
          ? []
          : [{ extends: true, test: { name: 'alone', include: alone, isolate: true } } as const]),
      ],
    },
  }
})

const repeats = /\/(?:rounds|doors|job-doors|web-doors|sandbox-entrances|run-guide|random-families)\.ts'/
const commands = /(?<![.\w])(?:handrail|call|startCommand|startServer|toServer|startConsole|serveRaw)\(/

/** The files of tests in which something is done more often in `npm run test:long`, or each command in a process of its own. */
function findLong(): string[] {
  return globSync(testFiles, { cwd: root }).filter((file) => {
    const text = readFileSync(`${root}${file}`, 'utf8')
    return repeats.test(text) || (text.includes("/command-line.ts'") && commands.test(text))
  })
}
