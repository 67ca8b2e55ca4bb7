import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { handrail, makePlace, startProgram, type Place } from '../support/command-line.ts'

/** What bash offers behind these words, the last of which is typed in part. */
async function offers(place: Place, ...words: string[]): Promise<string[]> {
  const line = ['handrail', ...words].map((word) => `'${word}'`).join(' ')
  const script = `. ./handrail.bash; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _handrail; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { code, stdout, stderr } = await startProgram(place, ['--norc', '-c', script], { command: 'bash' })
    .ended
  expect([code, stderr]).toEqual([0, ''])
  return stdout.trim() === '' ? [] : stdout.trim().split('\n')
}

test('bash completes commands, verbs, options and their values from the tables of the help', async () => {
  const place = makePlace({ 'export.jsonl': '' })
  const { code, stdout } = await handrail(place, ['completion', 'bash'])
  expect(code).toBe(0)
  writeFileSync(join(place.project, 'handrail.bash'), stdout)
  expect(await offers(place, 'ev')).toEqual(['evidence'])
  expect(await offers(place, 'evidence', 'li')).toEqual(['list'])
  expect(await offers(place, 'evidence', 'list', '--fo')).toEqual(['--follow'])
  expect(await offers(place, 'evidence', '--json', 'sh')).toEqual(['show'])
  expect(await offers(place, 'call', 'code.write_file', '--approve', '')).toEqual(['once', 'deny'])
  expect(await offers(place, 'evidence', 'resolve', 'last', '--outcome', 'not')).toEqual(['not-happened'])
  expect(await offers(place, 'evidence', 'verify', '--file', 'exp')).toEqual(['export.jsonl'])
  expect(await offers(place, 'mcp', 'import', 'cu')).toEqual(['cursor'])
  expect(await offers(place, 'runs', '--li')).toEqual(['--limit'])
  expect(await offers(place, 'help', 'doc')).toEqual(['doctor'])
  expect(await offers(place, 'completion', '')).toEqual(['bash', 'zsh', 'fish'])
  expect(await offers(place, 'nothing', '')).toEqual([])
  const help = await handrail(place, ['help'])
  const shown = [...help.stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = '']) => name)
  expect(shown.length).toBeGreaterThan(20)
  expect((await offers(place, '')).filter((word) => shown.includes(word))).toEqual(shown)
})

test('zsh and fish get the same, with what each means', async () => {
  const place = makePlace()
  const zsh = (await handrail(place, ['completion', 'zsh'])).stdout
  for (const text of [
    '#compdef handrail\n',
    "'doctor:Tells what holds on this machine",
    "'call --approve') compadd -- once deny; return ;;",
    "'evidence verify --file') _files; return ;;",
  ])
    expect(zsh).toContain(text)
  const fish = (await handrail(place, ['completion', 'fish'])).stdout
  for (const text of [
    "complete -c handrail -n '__fish_use_subcommand' -f -a doctor -d 'Tells what holds on this machine",
    "-n '__fish_seen_subcommand_from evidence; and __fish_seen_subcommand_from verify' -l file -r -F -d",
    "-n '__fish_seen_subcommand_from call' -l approve -x -a 'once deny' -d",
  ])
    expect(fish).toContain(text)
  const other = await handrail(place, ['completion', 'tcsh'])
  expect([other.code, other.stdout, other.stderr]).toEqual([
    2,
    '',
    expect.stringContaining('Name bash, zsh or fish.'),
  ])
})
