import { randomBytes, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedactingStream } from './redact-stream.ts'
import { createRedactor } from './redact.ts'
import { rounds } from '../../../test/support/rounds.ts'

const plain = createRedactor([])

// Put together here, so that no scanner takes this file for a leak.
const tokens: Readonly<Record<string, string>> = {
  aws: ['AKIA', 'IOSFODNN7EXAMPLE'].join(''),
  google: ['AIza', 'SyA1234567890abcdefghijklmnopqrstuv'].join(''),
  github: ['ghp_', 'a1B2c3D4e5'.repeat(4)].join(''),
  gitlab: ['glpat-', 'a1B2c3D4e5'.repeat(2)].join(''),
  slack: ['xoxb-', '1234567890-abcdefghij'].join(''),
  stripe: ['sk_live_', 'a1B2c3D4e5'.repeat(2)].join(''),
  anthropic: ['sk-ant-', 'api03-', 'a1B2c3D4e5'.repeat(4)].join(''),
  npm: ['npm_', 'a1B2c3D4e5f6'.repeat(3)].join(''),
  discordHook: [
    'discord.com/api/',
    'webhooks/',
    '123456789012345678/',
    'a1B2c3D4e5-_'.repeat(6).slice(0, 68),
  ].join(''),
  discordBot: [Buffer.from('123456789012345678').toString('base64'), 'GabcdE', 'a1B2c3D4e5f6'.repeat(3)].join(
    '.',
  ),
  telegram: ['1234567890', `AA${'a1B2c3D4e5f'.repeat(3)}`].join(':'),
  linear: ['lin_', 'api_', 'a1B2c3D4e5'.repeat(4)].join(''),
  notion: ['ntn_', 'a1B2c3D4e5'.repeat(5)].join(''),
  oldNotion: ['secret_', 'a1B2c3D4e5'.repeat(4), 'xyz'].join(''),
  age: ['AGE-SECRET-KEY-', '1', 'QPZRY9X8GF'.repeat(6).slice(0, 58)].join(''),
  jwt: ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', 'dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P'].join('.'),
}
/** Those that look like the end of a word: they are found behind an escape, not behind any letter. */
const wordlike: Readonly<Record<string, string>> = {
  twilio: ['SK', '0123456789abcdef'.repeat(2)].join(''),
  openai: ['sk-', 'a1B2c3D4e5'.repeat(4)].join(''),
  sendgrid: ['SG.', 'a1B2c3D4e5'.repeat(2), '.', 'a1B2c3D4e5'.repeat(4)].join(''),
  vault: ['hvs.', 'CAES1b2c'.repeat(4)].join(''),
}

const glues: Readonly<Record<string, (token: string) => string>> = {
  'by itself': (token) => token,
  'behind a line break of JSON': (token) => JSON.stringify(`one\n${token}\ntwo`),
  'behind a line break of JSON in JSON': (token) => JSON.stringify(JSON.stringify(`one\n${token}\ntwo`)),
  'behind a code of a URL': (token) => `?q=t%3D${token}&x=1`,
  'in quotes': (token) => `"${token}"`,
}

describe.each(Object.entries({ ...tokens, ...wordlike }))('a token of %s (OUT-4)', (_, token) => {
  test.each(Object.entries(glues))('is redacted %s', (__, glue) => {
    expect(plain.text(glue(token))).toContain('[redacted]')
    expect(plain.text(glue(token))).not.toContain(token.slice(-16))
  })
})

test.each(Object.entries(tokens))('a token of %s is redacted glued to letters (OUT-4)', (_, token) => {
  if (/^[0-9]/.test(token)) return
  expect(plain.text(`x${token}`)).not.toContain(token.slice(-16))
})

test.each([
  [
    'an access key of AWS in settings',
    'aws_secret_access_key = ',
    'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    '',
  ],
  [
    'an access key of AWS in the environment',
    'AWS_SECRET_ACCESS_KEY=',
    'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    '',
  ],
  ['an access key of AWS in JSON', '"SecretAccessKey": "', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', '"'],
  [
    'a key of a storage account',
    'AccountName=x;AccountKey=',
    `${'a1B2'.repeat(21)}a1==`,
    ';EndpointSuffix=core',
  ],
  ['a key of a queue', 'Endpoint=sb://x/;SharedAccessKey=', `${'a1B2'.repeat(10)}abc=`, ';'],
  ['a password in code', 'db.password = "', 'hunter2-hunter2', '"'],
  ['a password in JSON', '{"password":"', 'c0rrect!horse', '"}'],
  ['a password in JSON in JSON', String.raw`{\"Password\": \"`, 'c0rrect!horse', String.raw`\"}`],
  ['a password in the environment', 'DB_PASSWORD="', 'S3cret&more', '"'],
  ['a password in a URL', 'postgres://someone:', 'hunter22', '@db.example/x'],
])('%s is redacted, and what says so stays (OUT-4)', (...[, before, secret, after]) => {
  const kept = before.includes('://someone') ? 'postgres://' : before
  expect(plain.text(`${before}${secret}${after}`)).toBe(`${kept}[redacted]${after}`)
})

const png = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47]), randomBytes(100_000)]).toString('base64')

test.each([
  ['a commit', '1ff5d50c0b36721ff5d50c0b36721ff5d50c0b36'],
  ['commits in a log', '009f463 Give the whole of a result one cap\n1ff5d50 Copy what crosses a boundary'],
  ['a UUID', randomUUID()],
  ['a digest', `sha256:${'0123456789abcdef'.repeat(4)}`],
  ['an integrity hash', `"integrity": "sha512-${randomBytes(64).toString('base64')}"`],
  ['an image in Base64', png],
  [
    'names in kebab case',
    'task-list-with-a-very-long-name-of-its-own, disk-usage-percentage-warning-threshold',
  ],
  ['names of classes', 'sk-folding-cube, risk-assessment-of-everything-that-is-long'],
  ['a package', 'import { x } from "linuxapp-deployment-tools-of-2024"'],
  ['types of passwords', 'interface User { password: string; "passwd"?: "string" }'],
  ['a field for a password', '<input type="password" name="password" autocomplete="new-password">'],
  [
    'a place to fill in',
    'password = "${DB_PASSWORD}"; password: "<your password>"; PASSWORD="{{ secret.1 }}"',
  ],
  ['a key of a translation', 'password: "form.password_label"'],
  ['words', 'the author is a bearer of news; Basic authentication is not supported; a secret_key'],
  ['a URL', 'see https://user@example.com/a:b and http://example.com:8080/@scope'],
  ['numbers', '12345678:AAPL 3.14159 1e21 00:11:22:33:44:55'],
])('%s is not a secret (OUT-4)', (_, text) => {
  expect(plain.text(text)).toBe(text)
})

test('the bytes of an image change only where a secret that is known stands in them (OUT-4)', () => {
  const secret = 'correct-horse-battery'
  const chance = `${['AIza', 'Sy'].join('')}${'A1b2'.repeat(20)}`
  expect(plain.binary(chance)).toBe(chance)
  const redactor = createRedactor([secret])
  expect(redactor.binary(png)).toBe(png)
  expect(redactor.binary(Buffer.from(`x${secret}y`).toString('base64'))).toContain('[redacted]')
})

const secret = `open sesame/with+odd=letters&'more'<"01">-and so on until it is long enough for two lines of letters`
const html = (text: string, codes: Readonly<Record<string, string>>) =>
  text.replaceAll(/[&<>"'/`=]/g, (letter) => codes[letter] ?? letter)
const wrap = (text: string, width: number, end: string) =>
  text.replaceAll(new RegExp(`.{${width}}`, 'g'), `$&${end}`)
const base64 = (text: string) => Buffer.from(text).toString('base64')
const named = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

const forms: Readonly<Record<string, string>> = {
  'JSON with escaped slashes': JSON.stringify({ secret }).replaceAll('/', String.raw`\/`),
  'HTML with the least entities': html(secret, named),
  'HTML with quotes by name': html(secret, { ...named, '"': '&quot;', "'": '&apos;' }),
  'HTML with quotes by code': html(secret, { ...named, '"': '&quot;', "'": '&#39;' }),
  'HTML with quotes by hexadecimal code': html(secret, { ...named, '"': '&quot;', "'": '&#x27;' }),
  'HTML of templates': html(secret, { ...named, '"': '&quot;', "'": '&#39;', '/': '&#x2F;', '=': '&#x3D;' }),
  'a query in small letters': encodeURIComponent(secret).replaceAll(/%../g, (code) => code.toLowerCase()),
  'a query in a query, in small letters': encodeURIComponent(
    encodeURIComponent(secret).replaceAll(/%../g, (code) => code.toLowerCase()),
  )
    .toLowerCase()
    .includes('%252f')
    ? encodeURIComponent(encodeURIComponent(secret).replaceAll(/%../g, (code) => code.toLowerCase()))
    : '',
  'Base64 of mail': wrap(base64(`Subject: hello, and a lot of text before it: ${secret}\n`), 76, '\r\n'),
  'Base64 of keys': wrap(base64(`some text before it: ${secret}, and after it`), 64, '\n'),
  'Base64 of YAML': wrap(base64(`some text: ${secret}`), 64, '\n    '),
  'Base64 of mail in JSON': JSON.stringify(
    wrap(base64(`and a lot of text before it: ${secret}\n`), 76, '\r\n'),
  ),
}

describe.each(Object.entries(forms))('a known secret as %s (OUT-4)', (_, text) => {
  const redactor = createRedactor([secret])
  test('is redacted in a text', () => {
    const clean = redactor.text(text)
    expect(clean).toContain('[redacted]')
    expect(partsOf(text).filter((part) => clean.includes(part))).toEqual([])
  })

  test.each([1, 7, 64, 4_096])('is redacted in output that comes in pieces of %i bytes', (size) => {
    const stream = createRedactingStream(redactor)
    const bytes = Buffer.from(`before\n${text}\nafter\n`)
    const out: Uint8Array[] = []
    for (let at = 0; at < bytes.length; at += size) out.push(stream.push(bytes.subarray(at, at + size)))
    const clean = Buffer.concat([...out, stream.end()]).toString()
    expect(clean).toMatch(/^before\n[^]*\[redacted\][^]*\nafter\n$/)
    expect(partsOf(text).filter((part) => clean.includes(part))).toEqual([])
  })
})

/** What of the middle of a text must be gone. */
function partsOf(text: string): string[] {
  const middle = text.slice(text.length * 0.6, text.length * 0.8)
  return [middle.slice(0, 12), middle.slice(-12)]
}

test('nothing of a secret is left, whatever stands around it (OUT-4)', () => {
  const around = fc.string({
    unit: fc.constantFrom('a', 'Z', '0', ' ', '\n', '"', '\\', '-', '_', '/', '.', ':', '%'),
  })
  const token = fc.constantFrom(...Object.values(tokens).filter((each) => !/^[0-9A-Z]/.test(each)))
  fc.assert(
    fc.property(around, token, around, (before, each, after) => {
      expect(plain.text(`${before}${each}\n${after}`)).not.toContain(each.slice(-16))
    }),
    { numRuns: rounds({ usual: 50, long: 300 }) },
  )
})

test('the secret of a webhook is found whole, with every letter that Base64 has', () => {
  const secret = `whsec_${'a+/b'.repeat(10)}abc=`
  expect(createRedactor([]).text(`key ${secret} end`)).toBe('key [redacted] end')
})

test('one look at JSON text finds each value that something is hidden in (OUT-4)', () => {
  const secrets = [
    'pass"word\\n1',
    'a\nb\tc secret',
    'käse😀😀😀😀',
    'C:\\keys\\one',
    'x😀y\uD83Dz',
    'hunter22',
  ]
  for (const own of [secrets, secrets.filter((each) => each.isWellFormed()), []]) {
    const redactor = createRedactor(own)
    const hidden = fc.constantFrom(
      ...own,
      ...Object.values(tokens),
      ...Object.values(wordlike),
      'Bearer abcdefghijklmnopq',
    )
    const text = fc
      .tuple(fc.string({ unit: 'binary' }), fc.option(hidden, { nil: '' }), fc.string())
      .map((parts) => parts.join(' '))
    const written = fc.oneof(
      text,
      text.map((each) => JSON.stringify(each)),
    )
    fc.assert(
      fc.property(
        fc.dictionary(fc.oneof(fc.string(), text), fc.oneof(written, fc.array(written), fc.integer())),
        (value) => {
          if (redactor.json(value) !== value) expect(redactor.mayHold(JSON.stringify(value))).toBe(true)
        },
      ),
    )
  }
  expect(createRedactor(['hunter22']).mayHold('{"item":"garden hose","count":17}')).toBe(false)
})
