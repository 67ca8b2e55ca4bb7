import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makePlace } from '../../support/command-line.ts'
import { atEveryDoor } from '../doors/doors.ts'

/** Promise 3: what runs is what was shown. */
atEveryDoor((door) => {
  test('a file that changes while a person looks at its diff makes their yes stale (PERM-3)', async () => {
    const place = makePlace({ 'a.txt': 'one\n' })
    const file = join(place.project, 'a.txt')
    const input = { path: 'a.txt', edits: [{ old: 'one', new: 'two' }] }
    const changed = await door.at(place).call('code.edit_file', input, {
      approve: 'once',
      meanwhile: () => writeFileSync(file, 'one and a half\n'),
    })
    expect(changed).toMatchObject({ code: 'POLICY.APPROVAL_DENIED', reason: 'approval_stale' })
    expect(readFileSync(file, 'utf8')).toBe('one and a half\n')
    const calm = await door.at(place).call('code.edit_file', input, { approve: 'once', meanwhile: () => {} })
    expect(calm.ok).toBe(true)
    expect(readFileSync(file, 'utf8')).toBe('two and a half\n')
  })

  test('a file that appears while its creation is shown is not written over (PERM-3)', async () => {
    const place = makePlace()
    const file = join(place.project, 'new.txt')
    const input = { path: 'new.txt', content: 'mine', overwrite: true }
    const late = await door.at(place).call('code.write_file', input, {
      approve: 'once',
      meanwhile: () => writeFileSync(file, 'theirs'),
    })
    expect(late).toMatchObject({ reason: 'approval_stale' })
    expect(readFileSync(file, 'utf8')).toBe('theirs')
  })

  test('a command that is asked about when it has run lands what it did, and nothing of what stands there by then (PERM-3)', async () => {
    const place = makePlace({ 'tool.sh': '#!/bin/sh\necho shown > made\n' })
    const tool = join(place.project, 'tool.sh')
    chmodSync(tool, 0o755)
    const done = await door
      .at(place)
      .call(
        'code.run_command',
        { argv: ['./tool.sh'] },
        { approve: 'once', meanwhile: () => writeFileSync(tool, '#!/bin/sh\necho other > made\n') },
      )
    expect(done).toMatchObject({ ok: true })
    expect(readFileSync(join(place.project, 'made'), 'utf8')).toBe('shown\n')
  })

  test('a program that is another one by the time of the yes does not run (PERM-3)', async () => {
    const askedFirst = JSON.stringify({ commands: { review: 'never' } })
    const place = makePlace({ 'mark.sh': '#!/bin/sh\ntouch ran\n' }, { 'config.json': askedFirst })
    const tool = join(place.project, 'tool')
    chmodSync(join(place.project, 'mark.sh'), 0o755)
    symlinkSync('/bin/true', tool)
    const swapped = await door.at(place).call(
      'code.run_command',
      { argv: ['./tool'] },
      {
        approve: 'once',
        meanwhile: () => {
          rmSync(tool)
          symlinkSync(join(place.project, 'mark.sh'), tool)
        },
      },
    )
    expect(swapped).toMatchObject({ reason: 'approval_stale' })
    expect(existsSync(join(place.project, 'ran'))).toBe(false)
  })
})
