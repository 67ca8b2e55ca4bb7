import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import type { PathState } from '../../../contract/base/effects.ts'
import { readTree } from './two-trees.fixture.ts'
import type { LandingItem, Target } from './item.ts'
import { readMoment } from './moment.ts'

/** A folder with these files, and a way to name items in it. */
export function makeTree(files: { readonly [path: string]: string } = {}) {
  const above = mkdtempSync(join(tmpdir(), 'handrail-test-'))
  onTestFinished(() => {
    execFileSync('chmod', ['-R', 'u+rwX', above])
    rmSync(above, { recursive: true, force: true })
  })
  const [root, news] = [join(above, 'root'), join(above, 'new')]
  mkdirSync(root)
  mkdirSync(news)
  const put = (path: string, content: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  for (const [path, content] of Object.entries(files)) put(path, content)
  let since = readMoment(above).ctime
  let count = 0
  const file = (content: string, mode = 0o644): Target => {
    const from = join(news, String(++count))
    writeFileSync(from, content)
    return { kind: 'file', mode, from, keepTimes: false }
  }
  const item = (path: string, had: PathState['kind'], to: Target): LandingItem => ({
    root,
    path,
    to,
    expect: { had, unchangedSince: since },
  })
  /** From now on nothing may change. */
  const begin = async () => {
    since = readMoment(above).ctime
    await sleep(25)
  }
  return { above, root, put, file, item, begin, all: () => readTree(root) }
}

/** Lands without a history, as this process's own user. */
export const plainly = { owner: undefined, history: undefined, signals: [] }
