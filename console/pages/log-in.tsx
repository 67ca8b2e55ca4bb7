import { login } from '../api.ts'

/** For a person who is not logged in. */
export function LogInPage() {
  const isOver = new URLSearchParams(location.search).get('link') === 'over'
  return (
    <main class="log-in">
      <h1>Handrail</h1>
      {isOver && <p role="alert">That link was used, or is older than ten minutes.</p>}
      {login.value !== undefined && (
        <p>
          <a class="button" href={login.value.path}>
            Log in with {login.value.name}
          </a>
        </p>
      )}
      {login.value !== undefined && (
        <p>
          <a href={login.value.logOut}>Log out there</a>, if others use this browser.
        </p>
      )}
      <p>
        {login.value === undefined ? 'Get' : 'Or get'} a new link at a terminal of this machine, and open it
        here:
      </p>
      <pre>
        <code>handrail console</code>
      </pre>
    </main>
  )
}
