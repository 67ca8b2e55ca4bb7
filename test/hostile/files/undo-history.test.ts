import { linkSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { giveAway, makeFolder } from '../../support/project.ts'
import { openProject } from '../../support/undo.ts'

const secret = 'what-the-person-had-5512'

test('an isolated command sees nothing of the history, even where a root holds it', async () => {
  const kept = makeFolder()
  const { session, project } = await openProject(
    { 'a.txt': secret },
    {
      store: { path: join(kept, 'store.db') },
      writeRoots: [kept],
      sandbox: 'bubblewrap',
      policy: {
        rules: [{ effect: 'allow', tools: ['code.*'], resources: ['handrail:file:/**'], sensitive: true }],
      },
    },
  )
  await session.call('code.write_file', { path: 'a.txt', content: 'new', overwrite: true })
  const history = join(kept, 'store.db.history')
  expect(readdirSync(history)).toEqual(['local'])
  // So that it is not the owner of the files who keeps it out.
  giveAway(kept)
  const found = await session.call('code.run_command', {
    argv: [
      'sh',
      '-c',
      `ls -R ${history}; cat ${history}/local/calls/* ${history}/local/content/*/*; grep -r ${secret} ${kept} ${project}; true`,
    ],
  })
  expect(found.data).toMatchObject({ exit_code: 0 })
  const shown = JSON.stringify([found.content, found.data, found.error])
  expect(shown).not.toContain('.jsonl"')
  expect(shown.replaceAll(`grep -r ${secret}`, '')).not.toContain(secret)
  expect(shown).not.toContain('sha256:')
})

test('a call of a model sees the paths of an undo, and nothing of what the files hold', async () => {
  const { session } = await openProject({ 'a.txt': `${secret}\n` })
  await session.call('code.write_file', { path: 'a.txt', content: 'other-9917\n', overwrite: true })
  const undone = await session.call('code.undo')
  expect(undone.ok).toBe(true)
  expect(JSON.stringify(undone)).not.toContain(secret)
  expect(JSON.stringify(undone)).not.toContain('other-9917')
})

test('a person sees in an undo what they see of a write: secrets of the runtime are redacted', async () => {
  const { session, person } = await openProject({ 'a.txt': 'none\n' }, { secrets: { TOKEN: secret } })
  writeFileSync(
    join(
      (await session.preflight('code.list_dir', {})).plan?.operations.flatMap((each) =>
        'path' in each ? [each.path] : [],
      )[0] ?? '',
      'a.txt',
    ),
    `key ${secret}\n`,
  )
  await session.call('code.write_file', { path: 'a.txt', content: 'gone\n', overwrite: true })
  await session.call('code.undo')
  expect(person.asked.map(({ tool }) => tool)).toEqual(['code.write_file', 'code.undo'])
  const [write = '', undo = ''] = person.asked.map(({ preview }) => preview.body)
  expect(write).not.toContain(secret)
  expect(undo).toContain('+key ')
  expect(undo).not.toContain(secret)
})

test('another name of a file that is not to be seen does not come back as a file of its own', async () => {
  const { project, session } = await openProject({ '.env': `KEY=${secret}\n` })
  linkSync(join(project, '.env'), join(project, 'notes.txt'))
  const removed = await session.call('code.delete_path', { path: 'notes.txt' })
  expect(removed.error).toBeUndefined()
  expect((await session.call('code.undo')).error).toMatchObject({ reason: 'not_kept' })
  expect(readdirSync(project)).toEqual(['.env'])
  expect(readFileSync(join(project, '.env'), 'utf8')).toContain(secret)
})
