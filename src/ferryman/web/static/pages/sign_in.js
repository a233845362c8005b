import { me, post } from "../api.js";
import { html, useState } from "../html.js";
import { refresh } from "../session.js";
import { useSignal } from "../signal.js";
import { Code, Trouble } from "../parts/bits.js";
import { Icon } from "../parts/icons.js";

export function SignIn() {
  const who = useSignal(me);
  const [error, setError] = useState(null);
  const enter = async (event) => {
    event.preventDefault();
    const token = event.target.elements.token.value.trim();
    try {
      await post("session", { token });
      setError(null);
      await refresh();
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<main class="sign-in"><div class="card">
    <span class="hero"><${Icon} name="boat" /></span>
    <h1 id="title" tabindex="-1">Ferryman</h1>
    ${who?.problem ? html`<${Trouble} error=${who.problem} /><p><button type="button" class="primary" onClick=${refresh}>Try again</button></p>` : html`
    <p>This dashboard is closed until you show a token or an API key.</p>
    <form onSubmit=${enter}>
      <label class="field">Token or key <input name="token" type="password" required autocomplete="current-password" /></label>
      ${error && html`<${Trouble} error=${error} />`}
      <button type="submit" class="primary">Sign in</button>
    </form>
    <p class="quiet">On this machine, the link that this prints has a token in it:</p><${Code} text="ferryman serve" />`}
  </div></main>`;
}
