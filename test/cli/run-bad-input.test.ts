import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { handrail, makePlace, packageRoot, startHandrail, type Place } from '../support/command-line.ts'
import { startModelServer } from '../support/model-server.ts'
import { modelEnv, runModel } from '../support/run-model.ts'

const model = ['--model', 'anthropic/test-model']

test.each<[string, string[], string]>([
  ['no task', [...model], 'Say what the agent is to do'],
  ['an empty task', [' ', ...model], 'The prompt is empty'],
  ['two tasks', ['a', 'b', ...model], '"b" is one argument too many'],
  ['nothing on standard input', ['-', ...model], 'Standard input is empty'],
  ['no model', ['a'], 'Say which model works on it, with --model'],
  ['a model without a provider', ['a', '--model', 'gpt-5'], '--model is "gpt-5". A model is named as'],
  ['a provider without a model', ['a', '--model', 'openai/'], '--model is "openai/"'],
  ['a path as a provider', ['a', '--model', '../x:y'], '--model is "../x:y"'],
  ['a scope that is a path', ['a', '--model', '@a/../b:c'], '--model is "@a/../b:c"'],
  ['a URL as a package', ['a', '--model', 'file:///tmp/x.mjs'], '--model is "file:///tmp/x.mjs"'],
  ['a package of Node', ['a', '--model', 'fs:readFileSync'], '--model is "fs:readFileSync"'],
  ['an unknown provider', ['a', '--model', 'foo/bar'], 'Install it there: npm install @ai-sdk/foo.'],
  ['an unknown package', ['a', '--model', '@my/thing:bar'], 'Install it there: npm install @my/thing.'],
  ['a package that is no provider', ['a', '--model', 'zod:gpt-5'], 'exports no provider of the AI SDK'],
  ['a base URL that is none', ['a', ...model, '--base-url', 'localhost'], '--base-url is "localhost"'],
  ['a base URL of a file', ['a', ...model, '--base-url', 'file:///x'], '--base-url is "file:///x"'],
  ['a password in it', ['a', ...model, '--base-url', 'http://a:b@h/'], 'holds a name or a password'],
  ['no turns', ['a', ...model, '--max-turns', '0'], '--max-turns is "0"; it must be a whole number'],
  ['half a turn', ['a', ...model, '--max-turns', '1.5'], '--max-turns is "1.5"'],
  ['a system text that is not there', ['a', ...model, '--system', 'no.txt'], '"no.txt" cannot be read'],
  [
    'a schema that is not JSON',
    ['a', ...model, '--output-schema', 'bad.json'],
    'is not valid JSON at line 1',
  ],
  ['a schema that is a list', ['a', ...model, '--output-schema', 'list.json'], 'JSON, but not an object'],
  ['bytes that are not UTF-8', ['a', ...model, '--system', 'latin1.txt'], 'is not UTF-8'],
  ['an answer that is none', ['a', ...model, '--approve', 'yes'], '--approve is "yes"'],
  ['a mode that is none', ['a', ...model, '--mode', 'fast'], '--mode is "fast"'],
  ['a session of its own for a run that goes on', ['--resume', 'x', '--session', 'y'], 'leave out --session'],
])('%s is bad usage, in one message, and nothing is written', async (_, argv, said) => {
  const place = makePlace({
    'bad.json': '{"type": }',
    'list.json': '[]',
    'latin1.txt': new Uint8Array([0xe4, 0x0a]),
  })
  const { code, stdout, stderr } = await handrail(place, ['run', ...argv], { env: modelEnv })
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(said)])
  expect(existsSync(place.home)).toBe(false)
})

test.each([
  ['anthropic/x', 'ANTHROPIC_API_KEY'],
  ['openai/x', 'OPENAI_API_KEY'],
  ['google/x', 'GOOGLE_GENERATIVE_AI_API_KEY'],
])('without its key, %s says which variable holds it', async (name, variable) => {
  const place = makePlace()
  const { code, stderr } = await handrail(place, ['run', 'a', '--model', name])
  expect([code, stderr]).toEqual([
    2,
    `handrail: missing_key: The key for "${name}" is not there. Set it in the environment variable ${variable}.\n`,
  ])
  expect(existsSync(place.home)).toBe(false)
})

test('a schema that is not a JSON Schema, and one that cannot be, are refused with where', async () => {
  const place = makePlace({ 's.json': '{"type": "objekt"}' })
  const { code, stderr, asked } = await runModel(place, [], { argv: ['a', '--output-schema', 's.json'] })
  expect([code, asked]).toEqual([2, []])
  expect(stderr).toMatch(/invalid_options: The run cannot be started:\n {2}\/output/)
})

test('every fault of prices.json is told, and no run is started', async () => {
  const prices = {
    'anthropic/test-model': { input: -1, output: 'much' },
    'gpt-5': { input: 1, output: 1 },
    'openai/gpt-5': { input: 1, cached: 1 },
  }
  const place = makePlace({}, { 'prices.json': prices })
  const { code, stderr, asked } = await runModel(place, [], { argv: ['a'] })
  expect([code, asked]).toEqual([2, []])
  const faults = [
    '/anthropic~1test-model/input:',
    '/anthropic~1test-model/output:',
    '/gpt-5: It is not the name of a model',
    '/openai~1gpt-5/cached:',
    '/openai~1gpt-5/output:',
  ]
  expect(stderr.trimEnd().split('\n')).toHaveLength(1 + faults.length)
  for (const fault of faults) expect(stderr).toContain(`prices.json#${fault}`)
  const { stdout } = await handrail(place, ['doctor'])
  expect(stdout).toContain('prices.json#/gpt-5')
})

test('an unknown run, and one that completed, are told', async () => {
  const place = makePlace()
  const unknown = await handrail(place, ['run', '--resume', 'run_none'], { env: modelEnv })
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('no run "run_none"')])
  await runModel(place, [{ text: 'Hi.' }], { argv: ['hi'] })
  const over = await handrail(place, ['run', '--resume', 'last'], { env: modelEnv })
  expect([over.code, over.stderr]).toEqual([2, expect.stringContaining('has completed. Say with "prompt"')])
})

/** A package of the project, as npm would put it there. */
function install(place: Place, name: string, source: string): void {
  const folder = join(place.project, 'node_modules', name)
  const manifest = { name, version: '1.0.0', type: 'module', exports: { import: './index.js' } }
  for (const [file, text] of Object.entries({
    'package.json': JSON.stringify(manifest),
    'index.js': source,
  })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
}

const says = `
const streamOf = (parts) => new ReadableStream({ start(c) { for (const part of parts) c.enqueue(part); c.close() } })
const model = (provider, modelId) => ({
  specificationVersion: 'v4', provider, modelId, supportedUrls: {},
  doStream: async () => ({ stream: streamOf([
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'I am ' + provider + ' ' + modelId },
    { type: 'text-end', id: '1' },
    { type: 'finish', finishReason: { unified: 'stop' }, usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } } },
  ]) }),
})`

test('a package of the project is taken if the person trusts it, by any name and with any model name (AGENT-3)', async () => {
  const place = makePlace()
  install(place, '@my/thing', `${says}\nexport const thing = (id) => model('mine', id)`)
  const untrusted = await handrail(place, ['run', 'a', '--model', '@my/thing:big/model:7b'])
  expect([untrusted.code, untrusted.stdout]).toEqual([2, ''])
  expect(untrusted.stderr).toContain('counts only with --trust-project')
  const own = await handrail(place, ['run', 'a', '--model', '@my/thing:big/model:7b', '--trust-project'])
  expect([own.code, own.stdout]).toEqual([0, 'I am mine big/model:7b\n'])
  expect(own.stderr).toContain(`by ${join(place.project, 'node_modules/@my/thing/index.js')}`)
  const based = await handrail(place, [
    'run',
    'a',
    '--trust-project',
    '--model',
    '@my/thing:x',
    '--base-url',
    'http://127.0.0.1:1',
  ])
  expect([based.code, based.stderr]).toEqual([2, expect.stringContaining('has no function "create…"')])

  install(
    place,
    '@ai-sdk/some-servers',
    `${says}\nexport const createSomeServers = ({ name, baseURL }) => (id) => model(name, id + ' at ' + baseURL)`,
  )
  const argv = ['run', 'a', '--trust-project', '--model', 'some-servers/m']
  const bare = await handrail(place, argv)
  expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining('say which one with --base-url')])
  const made = await handrail(place, [...argv, '--base-url', 'http://127.0.0.1:1'])
  expect([made.code, made.stdout]).toEqual([0, 'I am someservers m at http://127.0.0.1:1\n'])

  install(place, '@ai-sdk/anthropic', `${says}\nexport default (id) => model('project', id)`)
  const shadowed = [...model, '--trust-project', '--base-url', 'http://127.0.0.1:1']
  const beside = await handrail(place, ['run', 'a', ...shadowed], { env: modelEnv })
  expect([beside.code, beside.stdout]).toEqual([1, ''])
  expect(beside.stderr).toContain(`by ${join(packageRoot, 'node_modules/@ai-sdk/anthropic')}`)
})

test.each([
  ['throws when it is loaded', 'throw new Error("broken\\n    at x:1:1")', 'cannot be loaded (broken)'],
  ['imports what is not there', 'import "not-there"', 'cannot be loaded (Cannot find package'],
  ['makes something else', 'export default () => ({ image: true })', 'not a language model of the AI SDK'],
  ['does not know the model', 'export default () => { throw new Error("no m") }', 'cannot be used: no m'],
])('a package that %s is told (AGENT-3)', async (_, source, said) => {
  const place = makePlace()
  install(place, '@my/thing', source)
  const { code, stderr } = await handrail(place, ['run', 'a', '--trust-project', '--model', '@my/thing:m'])
  expect([code, stderr]).toEqual([2, expect.stringContaining(said)])
  expect(existsSync(place.home)).toBe(false)
})

test('a run that goes on in another process cannot be gone on with here (AGENT-3)', async () => {
  const place = makePlace()
  const server = await startModelServer([{ text: 'I think', hangs: true }])
  const argv = ['run', 'hang', ...model, '--base-url', server.url]
  const running = startHandrail(place, argv, { env: modelEnv })
  await running.saw('I ')
  const { code, stderr } = await handrail(place, ['run', '--resume', 'last'], { env: modelEnv })
  expect([code, stderr]).toEqual([2, expect.stringContaining('run_in_progress: ')])
  running.child.kill('SIGINT')
  expect((await running.ended).code).toBe(130)
})
