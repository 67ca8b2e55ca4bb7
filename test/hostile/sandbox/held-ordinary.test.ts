import { execFileSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools } from 'handrail'
import { expect, test } from 'vitest'
import { giveAway, makeFolder, openRuntime } from '../../support/project.ts'
import { rounds } from '../../support/rounds.ts'
import { imageOf } from '../../support/undo.ts'

const files = {
  'package.json': JSON.stringify({ name: 'p', version: '1.0.0', scripts: { hello: 'echo hi > hi.txt' } }),
  Makefile: 'all: a.o b.o\n%.o: %.src\n\tcat $< > $@\nclean:\n\trm -f *.o\n',
  'a.src': 'a',
  'b.src': 'b',
  'dep/package.json': JSON.stringify({ name: 'dep', version: '1.0.0' }),
}

/** What people and agents run all day, each after the one before. Half of them are enough if time is short. */
const lines = [
  'ls -a | sort',
  'echo hello > hello.txt; mkdir -p src/lib && touch src/lib/a.js',
  "sed -i 's/hello/hi/' hello.txt; cp -r src src2 && mv src2 src3 && rm -rf src3",
  'tar cf t.tar src hello.txt && mkdir x && tar xf t.tar -C x && rm t.tar',
  'ln -s hello.txt link; chmod +x hello.txt; ln hello.txt hard; rm hard',
  'git add -A && git commit -qm first && git log --format=%s',
  'git checkout -qb topic && echo two >> hello.txt && git commit -qam two && git checkout -q main',
  'echo three > three.txt && git add . && git commit -qm three && git checkout -q topic',
  'git rebase -q main && git checkout -q main && git merge -q topic && git log --format=%s',
  'echo dirty >> hello.txt && git stash -q && git stash pop -q && git diff --stat',
  'git mv src source && git commit -qam moved && git status --short',
  'git reset -q --hard HEAD~1 && git fsck --no-progress',
  'make -s -j2 && make -s && make clean',
  `node -e "require('fs').renameSync('src', 'moved')"`,
  `node -e "const fs = require('fs'); fs.mkdirSync('many'); for (let i = 0; i < 300; i++) fs.writeFileSync('many/' + i, String(i))"`,
  'rm -r many; for i in 1 2 3; do echo $i >> loop; done',
  'npm run --silent hello && npm pkg set version=1.2.3 && npm install --silent --offline ./dep && npm ls',
  "perl -pi -e 's/i/I/' hello.txt; awk '{ print NR, $0 }' loop",
  'dd if=/dev/zero of=zeros bs=1024 count=64 status=none; split -b 4096 zeros z.; cat z.* | cmp - zeros; rm z.*',
  'touch -d 2001-01-01 old; install -m 755 hello.txt bin1; echo x > "name with ü"; find . -path ./.git -prune -o -type d -empty -delete',
  '(sleep 0.1; echo late > late) & wait; echo waited',
  'set -e; false; echo no',
]
const used = lines.slice(0, rounds({ usual: 6, long: lines.length }))

async function open(hold: 'always' | 'never') {
  const project = makeFolder(files)
  execFileSync('git', ['init', '-q', '-b', 'main', project])
  appendFileSync(join(project, '.git/config'), '[user]\nname = a\nemail = a@b\n')
  giveAway(project)
  const runtime = await openRuntime({
    project,
    store: 'memory',
    sandbox: { hold },
    tools: [codeTools({ shell: true })],
    policy: { allowBypass: true },
  })
  const session = runtime.session({ mode: 'bypass' })
  const run = async (line: string) => {
    const dates = "GIT_AUTHOR_DATE='2026-01-01 00:00 +0000' GIT_COMMITTER_DATE='2026-01-01 00:00 +0000'"
    const { data } = await session.call('code.run_shell', { command: `export ${dates}; ${line}` })
    const { exit_code: code, stdout, stderr } = data as Record<string, unknown>
    return JSON.stringify([line, code, stdout, stderr]).replaceAll(project, '')
  }
  return { project, run }
}

/** All below a folder but what git notes about times. */
function treeOf(project: string): Record<string, string> {
  const names = Object.entries(imageOf(project))
  return Object.fromEntries(names.filter(([name]) => !/^\.git\/(?:index$|logs\/)/.test(name)))
}

test(`${used.length} ordinary command lines do held back what they do otherwise, to the byte (FS-43)`, async () => {
  const [held, free] = [await open('always'), await open('never')]
  for (const line of used) {
    expect(await held.run(line)).toBe(await free.run(line))
    expect(treeOf(held.project)).toEqual(treeOf(free.project))
  }
  expect(Object.keys(treeOf(join(held.project, '.git'))).length).toBeGreaterThan(20)
})
