import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { atOpenEntrances, type Entrance } from '../../support/sandbox-entrances.ts'

/** What Handrail was told is secret. */
const secret = "open sesame/with+odd=letters&'more'-01"

const base64 = (text: string) => Buffer.from(text).toString('base64')
const percent = (text: string) => text.replaceAll(/[^]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)

/** Tokens by their form alone, joined here so that no scanner takes this file for a leak. */
const tokens: readonly (readonly [id: string, what: string, token: string])[] = [
  ['RD-02', 'a key of AWS', `AKIA${'IOSFODNN7EXAMPLE'}`],
  ['RD-02', 'a temporary key of AWS', `ASIA${'IOSFODNN7EXAMPLE'}`],
  ['RD-03', 'a key of Google', `AIza${'SyA1234567890abcdefghijklmnopqrstuvw'.slice(0, 35)}`],
  [
    'RD-03',
    'a JSON web token',
    `eyJ${'hbGciOiJIUzI1NiJ9'}.eyJ${'zdWIiOiIxMjM0NTY3ODkwIn0'}.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P`,
  ],
  ['RD-03', 'a token of GitHub', `ghp_${'a1'.repeat(18)}`],
  ['RD-03', 'a fine-grained token of GitHub', `github_pat_${'A1b2'.repeat(10)}`],
  ['RD-03', 'a token of Slack', `xoxb-${'1234567890-abcdefghij'}`],
  ['RD-03', 'a key of Stripe', `sk_live_${'a1'.repeat(12)}`],
  ['RD-03', 'a token of npm', `npm_${'a1'.repeat(18)}`],
  ['RD-03', 'a token after Bearer', `Bearer ${'a1b2c3d4'.repeat(4)}`],
  ['RD-03', 'a password in a URL', 'postgres://someone:hunter22@db.example/x'],
  ['RD-03', 'a password alone in a URL', 'redis://:hunter22@db.example/0'],
  ['RD-03', 'user and password of a request', `Authorization: Basic ${base64('someone:hunter22')}`],
  ['RD-03', 'a token of a vault', `hvs.${'CAES1b2c'.repeat(4)}`],
  ['RD-03', 'a token of PyPI', `pypi-${'AgEIcHlwaS5vcmc'.repeat(4)}`],
  ['RD-03', 'a hook of Slack', `https://hooks.slack.com/services/${'T01B02C03/B04D05E06/abcdefghijkl'}`],
  [
    'RD-03',
    'a private key',
    `-----BEGIN RSA ${'PRIVATE'} KEY-----\nMIIEow${'A1b2'.repeat(20)}\n-----END RSA ${'PRIVATE'} KEY-----`,
  ],
]

/** The known secret in the forms in which it travels. */
const forms: readonly (readonly [id: string, what: string, text: string])[] = [
  ['RD-05', 'the secret itself', secret],
  ['RD-05', 'in quotes of JSON', JSON.stringify({ secret })],
  ['RD-05', 'in Base64', base64(secret)],
  ['RD-05', 'in Base64, behind one letter', base64(`:${secret}`)],
  ['RD-05', 'in Base64, as a password', base64(`me:${secret}`)],
  ['RD-05', 'in Base64, in the middle', base64(`{"password":"${secret}","more":1}`)],
  ['RD-05', 'in Base64 for URLs', Buffer.from(`:${secret}?`).toString('base64url')],
  ['RD-05', 'in a query', `?key=${encodeURIComponent(secret)}`],
  ['RD-05', 'in a form', new URLSearchParams({ key: secret }).toString()],
  [
    'RD-05',
    'in a query, in small letters',
    encodeURIComponent(secret).replaceAll(/%../g, (code) => code.toLowerCase()),
  ],
  ['RD-05', 'in a path', secret.split('/').map(encodeURIComponent).join('/')],
  ['RD-05', 'as a URL', encodeURI(secret)],
  ['RD-05', 'in a query within a query', encodeURIComponent(encodeURIComponent(secret))],
  ['RD-05', 'each letter by its code', percent(secret)],
  ['RD-05', 'in hexadecimal', Buffer.from(secret).toString('hex')],
  ['RD-05', 'in capital hexadecimal', Buffer.from(secret).toString('hex').toUpperCase()],
]

/** What looks like a secret and is none. */
const harmless = [
  'AKIA is how they begin',
  'AKIAIOSFODNN7EXAMPL',
  'see https://user@example.com/a:b and http://example.com:8080/@scope',
  'eyJ is Base64 of a brace',
  'bearer of news',
  'Basic authentication is not supported',
  'pypi-attestation-models-of-old',
  'sk-short',
  'd41d8cd98f00b204e9800998ecf8427e',
  'open sesame',
]

/** Every way of what is in a file into a result. */
const ways: Readonly<Record<string, (at: Entrance, path: string) => ReturnType<Entrance['call']>>> = {
  'a file that is read': ({ call }, path) => call('code.read_file', { path }),
  'a search': ({ call }, path) => call('code.search', { query: 'begin', path, after: 5 }),
  output: ({ run }, path) => run('cat', path),
  'an error': ({ run }, path) => run('sh', '-c', 'cat "$0" >&2; exit 3', path),
  'a failed edit': ({ call }, path) =>
    call('code.edit_file', { path, edits: [{ old: 'begin  ', new: 'x' }] }),
}

atOpenEntrances({ secret }, (at) => {
  test.each([...tokens, ...forms].map((each, index) => [...each, index] as const))(
    '%s %s is not shown, whichever way it takes',
    async (...[, , text, index]) => {
      const path = `f${index}.txt`
      writeFileSync(join(at().project, path), `begin ${text} end\n`, { mode: 0o644 })
      for (const [way, send] of Object.entries(ways)) {
        // Nobody can tell a line of a key by itself.
        if (way === 'a search' && text.includes('\n')) continue
        const { seen } = await send(at(), path)
        const shown = {
          way,
          redacted: seen.includes('[redacted]'),
          leaks: partsOf(text).filter((part) => seen.includes(part)),
        }
        expect(shown).toEqual({ way, redacted: way !== 'a failed edit' || shown.redacted, leaks: [] })
      }
    },
  )

  test.each([
    ['RD-02', `AKIA${'IOSFODNN7EXAMPLE'}`],
    ['RD-05', encodeURIComponent(secret)],
  ])('%s a name is shown without it', async (_id, name) => {
    const { project, call } = at()
    writeFileSync(join(project, `${name}.md`), 'x')
    for (const [tool, input] of [
      ['code.list_dir', {}],
      ['code.glob', { pattern: '*.md' }],
      ['code.read_file', { path: `missing-${name}.md` }],
    ] as const)
      expect((await call(tool, input)).seen).not.toContain(name)
  })

  test.each(harmless)('RD-02 %j is shown as it is', async (text) => {
    writeFileSync(join(at().project, 'harmless.txt'), `${text}\n`, { mode: 0o644 })
    expect((await at().call('code.read_file', { path: 'harmless.txt' })).text).toContain(text)
  })

  test('RD-07 a megabyte of output is redacted to its end', async () => {
    const { project, run } = at()
    const line = `${'lorem ipsum eyJ sk- http://a@b '.repeat(30)}\n`
    const text = `${line.repeat(Math.ceil(1_000_000 / line.length))}AKIA${'IOSFODNN7EXAMPLE'} ${secret}\n`
    writeFileSync(join(project, 'megabyte.txt'), text, { mode: 0o644 })
    const { ok, seen } = await run('cat', 'megabyte.txt')
    expect({ ok, redacted: seen.includes('[redacted] [redacted]') }).toEqual({ ok: true, redacted: true })
    expect(seen).not.toContain('open sesame/with')
  })

  test('RD-05 nothing of it is kept: no evidence, no artifact', () => {
    const kept = filesBelow(join(at().home, '.handrail')).map((path) => readFileSync(path, 'latin1'))
    for (const text of [...tokens, ...forms].flatMap(([, , each]) => partsOf(each)))
      expect({ text, kept: kept.some((content) => content.includes(text)) }).toEqual({ text, kept: false })
  })
})

/** What of a text must not be seen: all of it, and of a text over several lines each line that is long. */
function partsOf(text: string): string[] {
  const parts = text.split('\n').filter((line) => line.length > 20 && !line.includes('-----'))
  return parts.length > 0 ? parts : [text]
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesBelow(path)
    // A server listens on a socket there.
    return entry.isFile() ? [path] : []
  })
}
