import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createSkillRegistry, type SkillDefinition } from 'handrail/agents'
import { expect, test } from 'vitest'
import { makeFolder } from '../support/project.ts'
import { load, openSkills } from './open-skills.ts'

const skill = (front: string, body = 'Do it.') => `---\n${front}\n---\n\n${body}\n`
const named = (name: string, more = '') => skill(`name: ${name}\ndescription: Does ${name}.${more}`)

interface Files {
  home?: Record<string, string>
  project?: Record<string, string>
}

/** A registry over a home and a project with these files. */
function open({ home = {}, project = {} }: Files, skills: readonly SkillDefinition[] = []) {
  const below = Object.fromEntries(Object.entries(home).map(([path, text]) => [join('skills', path), text]))
  const places = { home: makeFolder(below), project: makeFolder(project) }
  const packages = ['@acme/tool', 'whole']
  const installed = packages.filter((name) =>
    Object.keys(project).some((path) => path.startsWith(`node_modules/${name}/`)),
  )
  const registry = createSkillRegistry({ home: places.home, packages: installed, skills })
  return { registry, ...places, list: () => registry.list(places.project) }
}

test('skills come from a program, the home, packages that are named and the project, and the first has a name (BI-7)', async () => {
  const { list, home } = open(
    {
      home: { 'commit/SKILL.md': named('commit'), 'code/SKILL.md': named('code') },
      project: {
        'node_modules/@acme/tool/skills/acme/SKILL.md': named('acme'),
        'node_modules/whole/SKILL.md': named('whole'),
        'node_modules/other/skills/other/SKILL.md': named('other'),
        '.agents/skills/review/SKILL.md': named('review'),
        '.claude/skills/deep/er/SKILL.md': named('er'),
        '.claude/skills/commit/SKILL.md': named('Commit'),
      },
    },
    [{ name: 'code', description: 'Of the program.', instructions: 'Do it.' }],
  )
  const { skills, issues } = await list()
  expect(skills.map(({ name, origin, package: from }) => [name, origin, from])).toEqual([
    ['acme', 'package', '@acme/tool'],
    ['code', 'code', undefined],
    ['commit', 'home', undefined],
    ['er', 'project', undefined],
    ['review', 'project', undefined],
    ['whole', 'package', 'whole'],
  ])
  const left = issues.filter(({ leftOut }) => leftOut)
  expect(left.map(({ file, message }) => [file, message])).toEqual([
    [
      join(home, 'skills/code/SKILL.md'),
      expect.stringContaining('is that of a skill of the code already') as string,
    ],
    [
      expect.stringContaining('.claude/skills/commit/SKILL.md'),
      expect.stringContaining(join(home, 'skills/commit/SKILL.md')) as string,
    ],
  ])
})

test('each fault names its file and line, and spoils no other skill (BI-7)', async () => {
  const { list, home } = open({
    home: {
      'good/SKILL.md': named('good'),
      'no-front/SKILL.md': '# Nothing\n',
      'no-yaml/SKILL.md': skill('name: no-yaml\ndescription: {x'),
      'no-words/SKILL.md': skill('name: no-words'),
      'no-body/SKILL.md': skill('name: no-body\ndescription: d', ''),
      'no-tool/SKILL.md': named('no-tool', '\nallowed-tools: fly swim'),
      'no-flag/SKILL.md': named('no-flag', '\ndisable-model-invocation: maybe'),
      'no-bound/SKILL.md': named('no-bound', '\ndisallowed-tools: Fly'),
      'long/SKILL.md': named('long', `\nlicense: x\n# ${'x'.repeat(600_000)}`),
      'empty/other.md': 'no skill',
    },
  })
  const { skills, issues } = await list()
  expect(skills.map(({ name }) => name)).toEqual(['good'])
  const told = issues.filter(({ leftOut }) => leftOut)
  expect(told.map(({ file = '', line }) => [file.slice(home.length + 8), line])).toEqual([
    ['long/SKILL.md', undefined],
    ['no-body/SKILL.md', undefined],
    ['no-bound/SKILL.md', 4],
    ['no-flag/SKILL.md', 4],
    ['no-front/SKILL.md', 1],
    ['no-tool/SKILL.md', 4],
    ['no-words/SKILL.md', undefined],
    ['no-yaml/SKILL.md', 4],
  ])
  expect(told.map(({ message }) => message).join('\n')).toMatch(
    /at most 524288[^]*tells nothing[^]*"Fly" is not a tool[^]*true or false[^]*no front matter[^]*no tool that is known[^]*"description" is missing/,
  )
})

test('files that others wrote load as they are, and what counts for nothing is said (BI-7)', async () => {
  const { list } = open({
    home: {
      'a/SKILL.md': skill(
        'name: a\ndescription: Uses: colons\nmodel: opus\nallowed-tools: Bash(git add:*), Read(docs/**) mcp__x__y',
      ),
      'b/SKILL.md': skill(
        'description: d\nargument-hint: "[n]" [--dry]\nallowed-tools: ["Bash(uv run *)", Grep]\nhooks:\n  Stop:\n    - x: 1',
      ),
      'c/SKILL.md': skill(
        'name: C_d\ndescription: d\nallowed-tools: Bash(*), Fly\nmetadata:\n  version: 1.5',
      ),
    },
  })
  const { skills, issues } = await list()
  expect(issues.filter(({ leftOut }) => leftOut)).toEqual([])
  const told = issues.map(({ file = '', line, field }) => `${dirname(file).at(-1)}:${line} ${field}`)
  expect(told).toEqual([
    'a:4 model',
    'b:undefined name',
    'b:5 hooks',
    'b:3 argument-hint',
    'c:2 name',
    'c:4 allowed-tools',
  ])
  expect(
    skills.map(({ name, narrowing }) => [name, narrowing.allowed?.slice(0, 4), narrowing.bounded]),
  ).toEqual([
    [
      'C_d',
      ['code.run_command', 'code.run_shell', 'code.read_file', 'internal.list_skills'],
      ['code.read_file'],
    ],
    [
      'a',
      ['mcp.x.y', 'code.read_file', 'code.run_command', 'code.run_shell'],
      ['code.read_file', 'code.run_command', 'code.run_shell'],
    ],
    [
      'b',
      ['code.search', 'code.read_file', 'code.run_command', 'code.run_shell'],
      ['code.read_file', 'code.run_command', 'code.run_shell'],
    ],
  ])
  expect(skills[0]).toMatchObject({ metadata: { version: '1.5' } })
})

test('nothing outside of the project is read for it, and a link to its own folder is one skill (BI-7)', async () => {
  const { list, project, home } = open({
    home: { 'secret/SKILL.md': named('secret') },
    project: { '.agents/skills/own/SKILL.md': named('own'), '.claude/settings.json': '{}' },
  })
  mkdirSync(join(project, '.claude/skills'))
  symlinkSync(join(home, 'skills/secret'), join(project, '.claude/skills/stolen'))
  symlinkSync('../../.agents/skills/own', join(project, '.claude/skills/own'))
  mkdirSync(join(project, '.agents/skills/linked'))
  symlinkSync(join(home, 'skills/secret/SKILL.md'), join(project, '.agents/skills/linked/SKILL.md'))
  const { skills, issues } = await list()
  expect(skills.map(({ name }) => name)).toEqual(['own', 'secret'])
  expect(issues.map(({ message, leftOut }) => [message, leftOut])).toEqual([
    ['It is a link. Put the file itself there.', true],
    ['The folder is a link out of the project, so nothing in it is read.', true],
  ])
  expect(await createSkillRegistry({ projectFiles: false }).list(project)).toEqual({ skills: [], issues: [] })
})

test('the digest names every file of a skill, and a folder that cannot be taken is refused (BI-7)', async () => {
  const { registry, home, project } = open({ home: { 'a/SKILL.md': named('a'), 'a/scripts/x.sh': 'echo 1' } })
  const read = async () => {
    const found = await registry.find('a', project)
    if (found === undefined) throw new Error('It is not there.')
    return registry.read(found)
  }
  const first = await read()
  expect(first.files.map(({ path }) => path)).toEqual(['SKILL.md', 'scripts/x.sh'])
  const script = join(home, 'skills/a/scripts/x.sh')
  writeFileSync(script, 'echo 2')
  const second = await read()
  chmodSync(script, 0o755)
  const third = await read()
  expect(new Set([first.digest, second.digest, third.digest]).size).toBe(3)
  symlinkSync('/etc/hostname', join(home, 'skills/a/host'))
  await expect(read()).rejects.toMatchObject({
    reason: 'skill_unusable',
    message: expect.stringContaining('"host" leads out of its folder') as string,
  })
})

test('every fault of a skill of a program is thrown at once (BI-7)', () => {
  const skills = [
    { name: 'Not A Name', description: '', instructions: 'x', allowedTools: ['fly'], extra: 1 },
    { name: 'ok', description: 'd', instructions: ' ' },
  ] as unknown as SkillDefinition[]
  expect(() => createSkillRegistry({ skills, packages: ['../up'] })).toThrow(/packages\/0/)
  expect(() => createSkillRegistry({ skills })).toThrow(
    expect.objectContaining({
      code: 'invalid_options',
      issues: expect.arrayContaining([
        expect.objectContaining({ pointer: '/skills/0/name' }),
        expect.objectContaining({ pointer: '/skills/0/description' }),
        expect.objectContaining({ pointer: '/skills/0/allowedTools' }),
        expect.objectContaining({ pointer: '/skills/0/extra' }),
        expect.objectContaining({ pointer: '/skills/1' }),
      ]) as unknown,
    }),
  )
})

test('a skill of the project does not step into the place of one of the person that is at fault (BI-7)', async () => {
  const theirs = '---\nname: deploy\ndescription: Theirs.\n---\nDeploy at once.'
  const faulty = {
    'no YAML': { 'deploy/SKILL.md': '---\nname: deploy\ndescription: Mine.\ndisallowed-tools: [\n---\nAsk.' },
    'another folder': { 'ours/SKILL.md': '---\nname: Deploy\ndescription: ""\n---\nAsk first.' },
  }
  for (const [what, home] of Object.entries(faulty)) {
    const { runtime } = await openSkills({ home, project: { '.claude/skills/deploy/SKILL.md': theirs } })
    const session = runtime.session()
    const loaded = await session.call('internal.load_skill', { name: 'deploy' })
    expect(loaded.error?.reason, what).toBe('unknown_skill')
    const { data } = await session.call('internal.list_skills', {})
    expect(JSON.stringify(data), what).toContain('not replaced by those of someone else')
  }
  const alone = await openSkills({ home: {}, project: { '.claude/skills/deploy/SKILL.md': theirs } })
  expect((await load(alone.runtime.session(), 'deploy')).text).toContain('Deploy at once.')
})
