import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { giveAway } from './project.ts'
import { expectNoStack, handrail, onBundle, program, startProgram, type Place } from './command-line.ts'
import { openTerminal } from './terminal.ts'

/** One block of a guide that does something, with what the page says about it. */
export interface GuideStep {
  readonly language: string
  readonly code: string
  /** The file that the sentence above the block says to save it as. */
  readonly file?: string
  /** The output that the page shows right below the block. */
  readonly shown?: string
}

/** The steps of a guide in order. A `text` block is the output of the `sh` block right above it. */
export function readSteps(page: string): GuideStep[] {
  const parts = page.split(/^```/m)
  const steps: GuideStep[] = []
  for (let index = 1; index < parts.length; index += 2) {
    const [language = '', ...lines] = (parts[index] ?? '').split('\n')
    const code = lines.join('\n')
    const before = parts[index - 1] ?? ''
    const [, file] = /Save\s+this\s+as\s+`([^`]+)`[^`]*:\s*$/.exec(before) ?? []
    const last = steps.at(-1)
    if (language === 'text' && last?.language === 'sh' && before.trim() === '')
      steps[steps.length - 1] = { ...last, shown: code }
    else steps.push({ language, code, ...(file !== undefined && { file }) })
  }
  return steps
}

/** A line with the exit code that its comment announces, 0 without one. */
function parseLine(line: string): { command: string; code: number } {
  const [, command = line, code = '0'] = /^(.*?)\s+# ends with (\d+)$/.exec(line) ?? []
  return { command, code: Number(code) }
}

const wordsOf = (line: string): string[] =>
  execFileSync('sh', ['-c', `npx() { printf '%s\\0' "$@"; }; ${line}`], { encoding: 'utf8' })
    .split('\0')
    .slice(1, -1)

/** The commands of a guide as in a project that has the package installed. */
const installed = `node() { "${process.execPath}" "${onBundle}" "$@"; }
npx() { [ "$1" = handrail ] || exit 99; shift; "${process.execPath}" "${program}" "$@"; }
npm() { [ "$*" = "install handrail" ] || exit 99; }
`

/** One person who follows a guide, in a project folder of their own. */
export class Walk {
  #port = '7420'
  readonly #place: Place

  constructor(place: Place) {
    this.#place = place
  }

  /** Does what a step says, and returns what a person sees of it and the lines that ended in another way than announced. */
  async take(step: GuideStep): Promise<{ printed: string; unexpected: string[] }> {
    if (step.file !== undefined) this.#save(step.file, step.code)
    if (step.language !== 'sh') return { printed: '', unexpected: [] }
    let printed = ''
    const unexpected: string[] = []
    for (const line of step.code.trim().replaceAll('\\\n', ' ').split('\n')) {
      const { command, code } = parseLine(line)
      const ended = await this.#run(this.#here(command), step.shown ?? '')
      printed += ended.printed
      if (ended.code !== code) unexpected.push(`${line}: ${ended.code}\n${ended.printed}`)
    }
    return { printed: printed.replaceAll(this.#place.project, '/home/ann/my-agent'), unexpected }
  }

  /** With the port that the server of this walk listens on. */
  #here(text: string): string {
    return text.replaceAll('127.0.0.1:7420', `127.0.0.1:${this.#port}`)
  }

  #save(file: string, text: string): void {
    const path = file.startsWith('~/')
      ? join(this.#place.user, file.slice(2))
      : join(this.#place.project, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, this.#here(text))
    giveAway(this.#place.project)
  }

  async #run(line: string, shown: string): Promise<{ code: number | null; printed: string }> {
    if (line.endsWith(' &')) return this.#serve(line.slice(0, -2))
    const [, answer] = /^Allow\?.*: (\w+)$/m.exec(shown) ?? []
    if (answer !== undefined && line.startsWith('npx handrail call')) return this.#answer(line, answer)
    if (/^npx handrail [^|<>&;]*$/.test(line)) {
      const { code, stdout, stderr } = await handrail(this.#place, wordsOf(line))
      return { code, printed: stdout + stderr }
    }
    const running = startProgram(this.#place, ['-c', `exec 2>&1\n${installed}${line}`], { command: 'sh' })
    running.child.stdin.end()
    const { code, stdout, stderr } = await running.ended
    expectNoStack({ stdout, stderr })
    return { code, printed: stdout }
  }

  /** At a terminal, with the answer that the page shows. */
  async #answer(line: string, answer: string): Promise<{ code: number | null; printed: string }> {
    const terminal = openTerminal(this.#place, wordsOf(line))
    await terminal.saw('Allow?')
    terminal.type(`${answer}\r`)
    const code = await terminal.ended
    // The line editor of Node echoes the return key on its own.
    const printed = terminal
      .screen()
      .replaceAll('\r', '')
      .trimStart()
      .replace(`: ${answer}\n\n`, `: ${answer}\n`)
    return { code, printed }
  }

  async #serve(line: string): Promise<{ code: number; printed: string }> {
    const running = startProgram(this.#place, [program, ...wordsOf(line), '--port', '0'])
    await running.saw('/mcp')
    this.#port = /127\.0\.0\.1:(\d+)\/mcp/.exec(`${running.output.stdout}${running.output.stderr}`)?.[1] ?? ''
    return { code: 0, printed: '' }
  }
}

/** Whether an output is as a page shows it: `…` stands for anything in a line, and alone in a line for any lines. */
export function toPattern(shown: string): RegExp {
  const lines = shown.trimEnd().split('\n')
  const patterns = lines.map((line) =>
    line === '…'
      ? '(?:.*\\n)*?'
      : `${line
          .trimEnd()
          .split('…')
          .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
          .join('.*')}[ \\t]*\\n`,
  )
  return new RegExp(`^${patterns.join('')}$`)
}
