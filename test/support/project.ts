import { lchownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  createRuntime,
  type ApprovalAnswer,
  type ApprovalRequest,
  type Policy,
  type Runtime,
  type RuntimeOptions,
} from 'handrail'
import { atEnd } from './at-end.ts'

/** A fresh folder with these files, removed when the test ends. Of root it belongs to whom commands run as: the sandbox's user. */
export function makeFolder(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  parent = tmpdir(),
): string {
  const folder = mkdtempSync(join(parent, 'handrail-test-'))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  giveAway(folder)
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Where root runs the tests, gives a folder and all in it to `nobody`, as whom its commands run then. */
export function giveAway(folder: string): void {
  if (process.getuid?.() !== 0) return
  for (const path of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
    lchownSync(join(folder, path), nobody, nobody)
}

const nobody = 65_534

/** A runtime over a project folder, closed when the test ends. Its home is an empty folder. */
export async function openRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const runtime = await createRuntime({ project: makeFolder(), home: makeFolder(), ...options })
  atEnd(() => runtime.close())
  return runtime
}

/** Lets commands change files unasked, so that what they write is in force while they run. */
export const anyCommand: Policy = {
  rules: [{ effect: 'allow', tools: ['code.run_command'], argv: ['*', '**'] }],
}

/** A person who always says the same, and what they were asked. */
export function personSaying(answer: ApprovalAnswer['decision']) {
  const asked: ApprovalRequest[] = []
  return {
    asked,
    approve: async (request: ApprovalRequest): Promise<ApprovalAnswer> => {
      asked.push(request)
      return { decision: answer }
    },
  }
}
