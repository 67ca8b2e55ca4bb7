import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { atEveryDoor } from '../promises/doors/doors.ts'
import { makePlace } from '../support/command-line.ts'
import { giveAway } from '../support/project.ts'

/** Each call may come from another process: what one of them showed, the next one knows. */
atEveryDoor((door) => {
  test('a worktree is entered, keeps its work until a person saw what goes, and is removed (BI-6)', async () => {
    const { project, ...place } = makePlace({ 'a.txt': 'one\n' })
    const git = (...words: string[]) =>
      execFileSync(
        'git',
        ['-c', 'safe.directory=*', '-c', 'user.name=x', '-c', 'user.email=x@example.com', ...words],
        { cwd: project },
      )
    git('init', '-q')
    git('add', '.')
    git('commit', '-q', '--no-verify', '-m', 'one')
    giveAway(project)
    const at = door.at({ project, ...place })
    const call = (tool: string, input: object) => at.call(tool, input, { approve: 'once' })
    expect(await call('code.enter_worktree', { name: 'task' })).toMatchObject({ ok: true })
    const inside = join(project, '.handrail/worktrees/task')
    writeFileSync(join(inside, 'new.txt'), 'work')
    const exit = { id: 'task', action: 'remove' }
    const refused = await call('code.exit_worktree', exit)
    expect(refused).toMatchObject({ ok: false, code: 'TOOL.FAILED', reason: 'work_would_be_lost' })
    expect(refused.text).toContain('untracked: new.txt')
    expect(existsSync(join(inside, 'new.txt'))).toBe(true)
    expect(await call('code.exit_worktree', { ...exit, discard_changes: true })).toMatchObject({ ok: true })
    expect(existsSync(inside)).toBe(false)
    expect(await call('code.exit_worktree', exit)).toMatchObject({ reason: 'unknown_worktree' })
  })

  test('a cell of a notebook is changed after its diff was agreed to, and never unasked (FILE-11)', async () => {
    const notebook =
      '{\n "cells": [\n  {\n   "cell_type": "raw",\n   "metadata": {},\n   "source": []\n  }\n ],\n "metadata": {},\n "nbformat": 4,\n "nbformat_minor": 4\n}\n'
    const place = makePlace({ 'a.ipynb': notebook })
    const file = join(place.project, 'a.ipynb')
    const input = { path: 'a.ipynb', cell: 0, source: 'x' }
    const denied = await door.at(place).call('code.edit_notebook', input, { approve: 'deny' })
    expect(denied).toMatchObject({ ok: false, code: 'POLICY.APPROVAL_DENIED' })
    expect(readFileSync(file, 'utf8')).toBe(notebook)
    expect(await door.at(place).call('code.edit_notebook', input, { approve: 'once' })).toMatchObject({
      ok: true,
    })
    expect(readFileSync(file, 'utf8')).toBe(notebook.replace('[]', '[\n    "x"\n   ]'))
  })
})
