/** For a person who is not logged in. */
export function LogInPage() {
  const isOver = new URLSearchParams(location.search).get('link') === 'over'
  return (
    <main class="log-in">
      <h1>Handrail</h1>
      {isOver && <p role="alert">That link was used, or is older than ten minutes.</p>}
      <p>Get a new link at a terminal of this machine, and open it here:</p>
      <pre>
        <code>handrail console</code>
      </pre>
    </main>
  )
}
