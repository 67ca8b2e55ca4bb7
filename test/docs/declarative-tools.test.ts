import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { giveAway } from '../support/project.ts'
import { expectNoStack, makePlace, packageRoot, program, startProgram } from '../support/command-line.ts'
import { openDeclared, tellAll, texts, toolFile, writeTools } from '../support/declared-tools.ts'
import { findBlocks, readPage } from '../support/markdown.ts'

const page = readPage('docs/declarative-tools.md')
const blocks = findBlocks(page)
const example =
  blocks.find(({ heading, language }) => heading === 'history.json' && language === 'json')?.code ?? ''
const commands = (blocks.find(({ language }) => language === 'sh')?.code ?? '').trim().split('\n')

test('the example of declared tools fits the published schema and its commands run as shown (DECL-1)', async () => {
  const schema = JSON.parse(
    readFileSync(join(packageRoot, 'schemas', 'tool.json'), 'utf8'),
  ) as AnySchemaObject
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false }).compile(schema)
  expect([validate(JSON.parse(example)), validate.errors]).toEqual([true, null])

  const place = makePlace({ 'README.md': '# A project\n' })
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', '-c', 'safe.directory=*', ...args], {
      cwd: place.project,
    })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'Say what it is')
  giveAway(place.project)
  writeTools(join(place.home, 'tools'), { 'history.json': example })

  const printed: string[] = []
  for (const command of commands) {
    const line = command.replace(/^handrail /, `"${process.execPath}" "${program}" `)
    const running = startProgram(place, ['-c', line], {
      command: 'sh',
      env: { HANDRAIL_PROJECT: place.project },
    })
    running.child.stdin.end()
    const ended = await running.ended
    expectNoStack(ended)
    expect([command, ended.code, ended.stderr]).toEqual([command, 0, ''])
    printed.push(ended.stdout)
  }
  expect(printed[0]).toContain('git.history, readonly, no issue')
  expect(printed[1]).toContain('git.history')
  expect(printed[2]).toMatch(/^[0-9a-f]{7,} Say what it is\n$/)
  expect(printed[3]).toContain('git log --oneline -- README.md')
})

test('the page names every field of a file (DECL-1)', () => {
  const schema = JSON.parse(
    readFileSync(join(packageRoot, 'schemas', 'tool.json'), 'utf8'),
  ) as AnySchemaObject
  for (const field of Object.keys(schema['properties'] as object).filter((name) => name !== '$schema'))
    expect(page).toContain(`\`${field}\``)
})

test('the page shows every field that a program finds on stdin (DECL-2)', async () => {
  const shown = blocks.find(({ heading, language }) => heading === 'The program' && language === 'json')
  const { runtime } = await openDeclared({
    'a.json': toolFile({ command: './tell.mjs', output: 'json', input_schema: texts('path') }),
    'tell.mjs': tellAll,
  })
  const { data } = await runtime.session().call('demo.tool', { path: 'README.md' })
  const found = JSON.parse((data as { stdin: string }).stdin) as object
  expect(Object.keys(JSON.parse(shown?.code ?? '{}') as object)).toEqual(Object.keys(found))
})
