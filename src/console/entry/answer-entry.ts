import type { Store } from '../../contract/store.ts'
import { describeCause } from '../../kit/text/describe-cause.ts'
import { shorten } from '../../kit/text/shorten.ts'
import { showControlsInLine } from '../../kit/text/show-controls.ts'
import { onlyGet } from '../base/answers.ts'
import { serverLoginPath, type ServerLogins } from '../base/server-login.ts'
import { loginCookie, serverLoginCookie, visitCookie } from './cookies.ts'
import { answerEntryPage } from './entry-page.ts'
import { findClaim, pickClaims, toRoles, type Person, type RawClaims } from './login-rules.ts'
import type { Login, LoginSecrets } from './open-login.ts'
import { newSecret, type Visits } from './visits.ts'
import { toRefusalNote } from './visit-note.ts'

/** What lets people in. */
export interface Entry {
  readonly visits: Visits
  readonly store: Pick<Store, 'append' | 'digest'>
  /** Where persons log in, as it is configured now; undefined if nowhere. */
  readonly login: () => Login | undefined
  readonly serverLogins: ServerLogins
}

/** Answers what has to do with getting in; undefined for any other path. */
export async function answerEntry(request: Request, entry: Entry): Promise<Response | undefined> {
  const { pathname, searchParams } = new URL(request.url)
  switch (pathname) {
    case '/enter':
      return enterByLink(request, searchParams.get('link') ?? '', entry)
    case '/enter/login':
    case '/enter/callback':
    case '/enter/log-out':
      return onlyGet(request) ?? logIn(request, entry)
    case serverLoginPath:
      return onlyGet(request) ?? comeBackFromServer(request, entry)
    default:
      return undefined
  }
}

/** The link of a person becomes a visit, once. */
async function enterByLink(request: Request, link: string, entry: Entry): Promise<Response> {
  const secret = request.method === 'GET' ? await entry.visits.enter(link) : undefined
  return secret === undefined ? goTo('/?link=over') : enterWith(request, secret, entry)
}

/** Every visit has a secret of its own: that of a visit of before is of no use any more. */
async function enterWith(request: Request, secret: string, { visits }: Entry): Promise<Response> {
  const before = visitCookie.read(request)
  const ended = before === undefined ? undefined : visits.find(before)
  if (ended !== undefined) await visits.end(ended, ended.actor)
  return goTo('/', [visitCookie.set(request, secret)])
}

async function logIn(request: Request, entry: Entry): Promise<Response> {
  const login = entry.login()
  if (login === undefined)
    return answerEntryPage({
      status: 404,
      title: 'No log-in here',
      texts: ['This console is opened by a link. At a terminal of its machine: handrail console'],
    })
  const { pathname, host, search, searchParams } = new URL(request.url)
  if (pathname === '/enter/log-out') return logOut(login)
  const isHere = host === new URL(login.url).host
  if (pathname === '/enter/login')
    return isHere
      ? begin(request, login, { entry, isAnew: searchParams.has('anew') })
      : goTo(`${login.url}/enter/login`)
  if (!isHere) return notBegunHere()
  const response = await finish(request, login, { entry, search })
  if (!response.headers.has('set-cookie'))
    response.headers.append('set-cookie', loginCookie.set(request, undefined))
  return response
}

/** The browser of who logged in at an MCP server is led back, and told why if nothing came of it. */
async function comeBackFromServer(request: Request, { serverLogins }: Entry): Promise<Response> {
  const taken = serverLoginCookie.set(request, undefined)
  try {
    await serverLogins.finish(new URL(request.url), serverLoginCookie.read(request))
    return goTo('/servers', [taken])
  } catch (error) {
    const page = answerEntryPage({
      status: 403,
      title: 'Not logged in at the server',
      texts: [say(error)],
      again: { text: 'Back to the servers', path: '/servers' },
    })
    page.headers.append('set-cookie', taken)
    return page
  }
}

interface Beginning {
  readonly entry: Entry
  readonly isAnew: boolean
}

async function begin(request: Request, login: Login, { entry, isAnew }: Beginning): Promise<Response> {
  const secret = `${Date.now().toString(36)}.${newSecret()}`
  try {
    const place = await login.begin(toSecrets(secret, entry), isAnew)
    return goTo(place.href, [loginCookie.set(request, secret)])
  } catch (error) {
    return notReached(login, { error, path: '/enter/login' })
  }
}

/** The visit has ended by then, or goes on: the provider alone is asked to forget who is there. */
async function logOut(login: Login): Promise<Response> {
  try {
    const place = await login.logOut()
    if (place !== undefined) return goTo(place.href)
  } catch (error) {
    return notReached(login, { error, path: '/enter/log-out' })
  }
  return answerEntryPage({
    status: 404,
    title: `${login.name} has no log-out for this console`,
    texts: ['Log out on its own pages.'],
  })
}

function notReached(
  { name }: Login,
  { error, path }: { error: unknown; path: '/enter/login' | '/enter/log-out' },
): Response {
  return answerEntryPage({
    status: 503,
    title: `${name} cannot be asked`,
    texts: [
      `The console could not reach it: ${say(error)}`,
      'Who runs this gateway learns more from: handrail doctor',
    ],
    again: { text: 'Try again', path },
  })
}

/** All three follow from the secret in the cookie of the browser, and only the store can tell one from the other. */
function toSecrets(secret: string, { store }: Entry): LoginSecrets {
  const of = (what: string): string => store.digest(`console\nlogin\n${what}\n${secret}`)
  return { state: of('state'), nonce: of('nonce'), verifier: of('verifier') }
}

const longestMs = 10 * 60_000

/** The secret of a log-in that this browser began, not too long ago. */
function readBegun(request: Request): string | undefined {
  const secret = loginCookie.read(request)
  const [, at] = /^([0-9a-z]{1,10})\.[\w-]{43}$/.exec(secret ?? '') ?? []
  if (at === undefined) return undefined
  const age = Date.now() - Number.parseInt(at, 36)
  return age >= 0 && age <= longestMs ? secret : undefined
}

interface Finishing {
  readonly entry: Entry
  readonly search: string
}

async function finish(request: Request, login: Login, { entry, search }: Finishing): Promise<Response> {
  const begun = readBegun(request)
  if (begun === undefined) return notBegunHere()
  let claims: RawClaims
  try {
    claims = await login.finish(search, toSecrets(begun, entry))
  } catch (error) {
    return answerEntryPage({
      status: 403,
      title: 'Not logged in',
      texts: [`What came from ${login.name} does not fit what this browser began: ${say(error)}`],
      again: { text: 'Log in', path: '/enter/login' },
    })
  }
  const { issuer, clientId: client, rules, actorClaim = 'sub' } = login.options
  const subject = findClaim(claims, actorClaim)
  if (typeof subject !== 'string' || subject === '' || subject.length > 255) return noName(login, actorClaim)
  // No id of an actor has a "#", and no issuer: this name is theirs alone.
  const actor = `${issuer}#${encodeURIComponent(subject)}`
  const person: Person = { issuer, client, claims: pickClaims(claims, rules) }
  const name = nameOf(claims, subject)
  if (toRoles(person, login.options).size === 0) {
    await entry.store.append(toRefusalNote(actor, name))
    return noEntry(login, { actor, name, person })
  }
  const secret = await entry.visits.begin({ actor, name, by: person }, begun)
  if (secret === undefined) return notBegunHere()
  const entered = await enterWith(request, secret, entry)
  entered.headers.append('set-cookie', loginCookie.set(request, undefined))
  return entered
}

function nameOf(claims: RawClaims, subject: string): string {
  const named = ['name', 'preferred_username', 'email'].map((claim) => findClaim(claims, claim))
  const name = named.find((each) => typeof each === 'string' && each.trim() !== '')
  return shorten(showControlsInLine(typeof name === 'string' ? name : subject), 100)
}

function noEntry(
  { name: provider }: Login,
  { actor, name, person }: { actor: string; name: string; person: Person },
): Response {
  const looked = Object.entries(person.claims).map(([claim, texts]) => {
    const has = texts.length === 0 ? 'nothing' : shorten(texts.map((text) => `"${text}"`).join(', '), 300)
    return `"${claim}": ${has}`
  })
  return answerEntryPage({
    status: 403,
    title: 'No entry',
    texts: [
      `${provider} knows you as ${name}, but no rule lets you into this console.`,
      'Ask who runs this gateway for a role (viewer, approver, operator or admin) in a tenant, and send them this page. They add a rule to console.login.rules of gateway.json, or put you into a group that has one.',
      `You are: ${actor}`,
      `The rules look at: ${showControlsInLine(looked.join('; '))}`,
    ],
    again: { text: 'Log in as somebody else', path: '/enter/login?anew=1' },
  })
}

function noName({ name }: Login, claim: string): Response {
  const hint = claim === 'email' ? ', or has not verified it' : ''
  return answerEntryPage({
    status: 403,
    title: 'No entry',
    texts: [
      `${name} says nothing of you that could be your name here: the claim "${claim}" is missing${hint}.`,
    ],
    again: { text: 'Log in as somebody else', path: '/enter/login?anew=1' },
  })
}

function notBegunHere(): Response {
  return answerEntryPage({
    status: 403,
    title: 'Not logged in',
    texts: ['This log-in was not begun in this browser, is older than ten minutes, or was used already.'],
    again: { text: 'Log in', path: '/enter/login' },
  })
}

/** What went wrong, in words: libraries put the reason below. */
function say(error: unknown): string {
  return shorten(showControlsInLine(describeCause(error)), 500)
}

function goTo(location: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ location, 'cache-control': 'no-store' })
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return new Response(null, { status: 303, headers })
}
