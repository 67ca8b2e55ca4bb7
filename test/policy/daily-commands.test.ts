import { expect, test } from 'vitest'
import { keepOpen } from '../support/at-end.ts'
import { openRuntime, personSaying } from '../support/project.ts'
import { shellTool } from '../support/shell-tool.ts'

/** What people who work with an agent allow, and what they forbid beside that. */
const allowed = [
  'awk *',
  'basename *',
  'bat *',
  'cargo build *',
  'cargo test *',
  'cat *',
  'cd *',
  'cut *',
  'date *',
  'diff *',
  'dirname *',
  'docker ps *',
  'du *',
  'echo *',
  'eslint *',
  'export *',
  'fd *',
  'file *',
  'find *',
  'git *',
  'go test *',
  'grep *',
  'head *',
  'jq *',
  'ls *',
  'make *',
  'man *',
  'mkdir *',
  'node *',
  'npm *',
  'npx tsc *',
  'npx vitest *',
  'openssl *',
  'pnpm *',
  'printf *',
  'pwd',
  'pytest *',
  'python3 -m pytest *',
  'python3 *',
  'read *',
  'readlink *',
  'rg *',
  'sed *',
  'set *',
  'shuf *',
  'sleep *',
  'sort *',
  'split -l 1000 big.txt part-',
  'stat *',
  'tail *',
  'tar *',
  'tee /dev/null',
  'test *',
  'touch *',
  'tr *',
  'tree *',
  'true',
  'tsc *',
  'uniq *',
  'wait *',
  'wc *',
  'which *',
  'xxd *',
  'yarn *',
  'yq *',
  '[ *',
  './scripts/check.sh *',
  '* --version',
]
const forbidden = ['rm *', 'sudo *', 'curl *', 'git push --force *', 'npm publish *', 'chmod 777 *']

const daily = String.raw`
git status
git status --short --branch
git status -sb --porcelain=v2 --untracked-files=all
git diff
git diff --stat
git diff HEAD~3 --name-only
git diff --cached -- src/index.ts
git diff main...HEAD -- '*.ts'
git diff -U10 --word-diff=color README.md
git diff --no-index -- a.txt b.txt
git --no-pager diff --color=never
git -C packages/a log --oneline -5
git log --oneline -20
git log -n 5 --pretty=format:'%h %an %s' --date=short
git log --graph --oneline --all --decorate
git log -p -S 'createRuntime(' -- src/
git log --since='2 weeks ago' --author=ann --no-merges
git log -L 10,20:src/index.ts
git log --follow --stat -- docs/policy.md
git show HEAD
git show --stat HEAD~1
git show HEAD:package.json | jq -r .version
git blame -L 40,60 src/index.ts
git branch -a
git branch --show-current
git branch -D old-branch
git checkout -b feature/x
git checkout -- src/index.ts
git switch -c fix
git restore --staged src/a.ts
git add -A
git add src/*.ts
git add *.md
git commit -m 'Mend the parser'
git commit -am "Mend the parser" && git log -1
git commit --amend --no-edit
git stash
git stash push -m 'work' && git stash pop
git stash list
git fetch origin --prune
git pull --rebase
git push origin main
git push -u origin HEAD
git merge --no-ff feature/x
git rebase main
git rebase --continue
git cherry-pick -x abc1234
git revert --no-edit HEAD
git reset --hard HEAD~1
git rev-parse --show-toplevel
git ls-files | wc -l
git ls-files '*.ts' | xargs wc -l
git remote -v
git tag -l 'v*' --sort=-version:refname
git describe --tags --always --dirty
git config user.email
git config --get remote.origin.url
git grep -n 'TODO' -- src
git worktree list
git shortlog -sn
git rev-list --count HEAD
git submodule status
npm test
npm test -- --run src/kit
npm run build
npm run check 2>&1 | tail -20
npm run -s lint -- --fix src
npm install --save-dev vitest
npm ci
npm ls --depth=0
npm outdated
npm --prefix packages/a test
npm view zod version
pnpm -r build
yarn workspace a test
npx tsc --noEmit --skipLibCheck 2>&1 | grep -v '^../tui' | head -50
npx vitest run src/a.test.ts
tsc -p tsconfig.json --noEmit
eslint --version
eslint . --ext .ts
node --test
node scripts/build.mjs
node -e 'console.log(1)'
node -p process.version
python3 -m pytest -q tests
python3 scripts/gen.py --out x
pytest -k 'not slow' -x
cargo build --release
cargo test -- --nocapture
go test ./... -run TestA -v
make -j4 test
make build && ls -la dist
ls -la
ls src/*.ts
ls -la $HOME
cat package.json | jq '.scripts'
cat src/index.ts | head -100
cat <<'E'
text with $(nothing) in it
E
head -n 20 README.md
tail -f log.txt
tail -n +100 file.txt | head -50
wc -l src/**/*.ts
find . -name '*.ts' -not -path './node_modules/*'
find . -name *.ts
find packages -name "editor.ts" -type f
find . -type f -size +1M -mtime -7
find src -name '*.ts' | xargs grep -l foo
find . -name '*.test.ts' -print0 | xargs -0 wc -l
find . -maxdepth 2 \( -name '*.js' -o -name '*.ts' \) -newer package.json
find ~/work -name x -prune -o -print
grep -rn "foo" src | head -20
grep -rn --include='*.ts' "import .* from" src
grep -c . file.txt
grep -E '^(a|b)' file.txt | sort | uniq -c | sort -rn | head
grep -n "$pattern" src/index.ts
rg -n 'createRuntime' src -g '!*.test.ts'
rg --files -g '*.md'
rg -l foo | xargs rg -l bar --
rg -e foo -e bar -A 3 -B2 --type ts
rg foo src/*.ts
fd -e ts src
sed -n '10,20p' src/index.ts
sed -n 5p file.txt
sed -n '/start/,/end/p' file.txt
sed 's/foo/bar/g' file.txt
sed -e 's/^ *//' -e '/^$/d' file.txt | head
sed -E 's|https?://[^/]+/||' urls.txt
sed '1!G;h;$!d' file.txt
sed '/^#/d;/^$/d' config.ini
sed -n '1p;$p' file.txt
sed 's/\(a\)\(b\)/\2\1/' file.txt
sed "s/[[:space:]]*$//" file.txt
awk '{print $1}' file.txt
awk -F: '{print $1, $3}' /etc/passwd
awk -F'|' 'NR>1 {sum += $3} END {print sum}' table.txt
awk '/foo/ && !/bar/' file.txt
awk 'length > 120' src/index.ts
cut -d, -f1,3 data.csv | sort -u
sort -t, -k2,2n data.csv
sort -rn -k 3 file.txt
uniq -d file.txt
sort file.txt | uniq -c
tr -d '\r' < /dev/null
jq '.dependencies | keys[]' package.json
jq -r '.[] | select(.name == "x") | .id' data.json
yq -r '.services | keys' docker-compose.yml
tree -L 2 -I node_modules
tree -a --gitignore
du -sh node_modules
stat -c %s package.json
file -b image.png
which node && node --version
date +%Y-%m-%d
echo "done: $?"
echo "$PATH" | tr ':' '\n'
printf '%s\n' "$HOME" a b
mkdir -p src/new && touch src/new/index.ts
diff -u a.txt b.txt
diff <(sort a.txt) <(sort b.txt)
test -f package.json && echo yes
[ -d node_modules ] || npm ci
[ "$x" = "y" ] && echo same
[ -n "$CI" ] && echo ci
cd packages/a && npm test
cd src && ls
cd "$(git rev-parse --show-toplevel)" && ls
(cd docs && ls) ; pwd
set -e; npm test
set -euo pipefail
export NODE_ENV=test && npm test
CI=1 npm test
NODE_ENV=production FORCE_COLOR=0 npm run build
timeout 60 npm test
time npm run build
nice -n 10 make -j2
npm test & wait
npm test > /dev/null 2>&1 && echo ok || echo failed
tar tf archive.tar.gz
tar -xzf archive.tgz -C out
tar czf out.tgz --exclude=node_modules src
split -l 1000 big.txt part-
shuf -n 5 file.txt
xxd -l 64 image.png
openssl rand -hex 16
openssl x509 -in cert.pem -noout -dates
man git-log
docker ps -a --format '{{.Names}}'
./scripts/check.sh --quick
bat -p src/index.ts
read -r name <<< "a b"
seq --version
`
  .trim()
  .split(/\n(?!text|E\n)/)

const runtime = keepOpen(() =>
  openRuntime({
    tools: [shellTool],
    policy: {
      rules: [
        { effect: 'allow', commands: allowed },
        { effect: 'deny', commands: forbidden },
      ],
    },
    approve: personSaying('deny').approve,
  }),
)

test('these lines are many (PERM-11)', () => {
  expect(daily.length).toBeGreaterThan(180)
})

test.each(daily)('%j runs unasked under rules that allow what it does (PERM-11)', async (line) => {
  expect((await runtime().session().preflight('demo.shell', { line })).effect).toBe('allow')
})
