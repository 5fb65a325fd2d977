package render

// ownRules are what the kept rules lack: keys of the services that agents are made of, and the
// places where people put passwords. "␣" stands for a blank in a keyword.
var ownRules = []secretRule{
	{kind: "sk-api-key", pattern: `\b(sk-[A-Za-z0-9_-]{20,})`, keywords: "sk-", shape: shapeStart, word: true, entropy: 3.5, mixed: true},
	{kind: "sk-api-key", pattern: `\b(sk-(?:[a-z]{2,8}-){0,2}(?:v1-)?(?:[a-f0-9]{32,}|[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}))`, keywords: "sk-", shape: shapeStart, word: true, entropy: 3},
	{kind: "groq-api-key", pattern: `\b(gsk_[A-Za-z0-9]{40,})`, keywords: "gsk_", shape: shapeStart, word: true, entropy: 3},
	{kind: "xai-api-key", pattern: `\b(xai-[A-Za-z0-9]{40,})`, keywords: "xai-", shape: shapeStart, word: true, entropy: 3},
	{kind: "replicate-api-token", pattern: `\b(r8_[A-Za-z0-9]{37,40})`, keywords: "r8_", shape: shapeStart, word: true, entropy: 3},
	{kind: "tavily-api-key", pattern: `\b(tvly-[A-Za-z0-9-]{20,})`, keywords: "tvly-", shape: shapeStart, word: true, entropy: 3},
	{kind: "pinecone-api-key", pattern: `\b(pcsk_[A-Za-z0-9_]{40,})`, keywords: "pcsk_", shape: shapeStart, word: true, entropy: 3},
	{kind: "langsmith-api-key", pattern: `\b(lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10})`, keywords: "lsv2_", shape: shapeStart, word: true, entropy: 3},
	{kind: "firecrawl-api-key", pattern: `\b(fc-[a-f0-9]{32})\b`, keywords: "fc-", shape: shapeStart, word: true, entropy: 3},
	{kind: "google-oauth-token", pattern: `\b(ya29\.[A-Za-z0-9_-]{20,})`, keywords: "ya29.", shape: shapeStart, word: true, entropy: 3},
	{kind: "google-refresh-token", pattern: `(1//0[A-Za-z0-9_-]{30,})`, keywords: "1//0", shape: shapeStart, word: true, entropy: 3, mixed: true},
	{kind: "google-client-secret", pattern: `\b(GOCSPX-[A-Za-z0-9_-]{20,})`, keywords: "gocspx-", shape: shapeStart, word: true, entropy: 3},
	{kind: "supabase-token", pattern: `\b(sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})`, keywords: "sbp_ sb_secret_", shape: shapeStart, word: true, entropy: 3},
	{kind: "netlify-token", pattern: `\b(nfp_[A-Za-z0-9]{36,})`, keywords: "nfp_", shape: shapeStart, word: true, entropy: 3},
	{kind: "docker-token", pattern: `\b(dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,})`, keywords: "dckr_pat_ dckr_oat_", shape: shapeStart, word: true, entropy: 3},
	{kind: "webhook-secret", pattern: `\b(whsec_[A-Za-z0-9+/]{24,}={0,2})`, keywords: "whsec_", shape: shapeStart, word: true, entropy: 3},
	{kind: "figma-token", pattern: `\b(figd_[A-Za-z0-9_-]{30,})`, keywords: "figd_", shape: shapeStart, word: true, entropy: 3},
	{kind: "neon-api-key", pattern: `\b(napi_[a-z0-9]{40,})`, keywords: "napi_", shape: shapeStart, word: true, entropy: 3},
	{kind: "render-api-key", pattern: `\b(rnd_[A-Za-z0-9]{28,})`, keywords: "rnd_", shape: shapeStart, word: true, entropy: 3},
	{kind: "notion-token", pattern: `\b(secret_[A-Za-z0-9]{43})\b`, keywords: "secret_", shape: shapeStart, word: true, entropy: 3, mixed: true},
	{kind: "aws-session-token", pattern: `((?:IQoJb3JpZ2luX2|FwoGZXIvYXdz)[A-Za-z0-9+/%]{50,}={0,2})`, keywords: "iqojb3jpz2lux2 fwogzxivyxdz", shape: shapeStart, entropy: 3},
	{kind: "azure-storage-key", pattern: `(?i)AccountKey=([a-z0-9+/]{40,}={0,2})`, keywords: "accountkey=", shape: shapeStart, entropy: 3},
	{kind: "azure-sas-signature", pattern: `(?i)[?&;]sig=([a-z0-9%+/]{30,}={0,2})`, keywords: "?sig= &sig= ;sig=", shape: shapeStart, entropy: 3, digit: true},
	{kind: "azure-ad-client-secret", pattern: `(?:^|[^\w~.])([a-zA-Z0-9_~.]{3}\dQ~[a-zA-Z0-9_~.-]{31,34})(?:$|[^\w~.-])`, keywords: "q~", shape: shapeNear, reach: 48, entropy: 3},
	{kind: "vault-service-token", pattern: `\b(hvs\.[\w-]{90,120})(?:[^\w-]|$)`, keywords: "hvs.", shape: shapeStart, word: true, entropy: 3.5},
	{kind: "vault-service-token", pattern: `\b(s\.[A-Za-z0-9]{24})(?:["'\x60\s;,]|$)`, keywords: "s.", shape: shapeStart, word: true, entropy: 3.5, mixed: true},
	{kind: "slack-cookie", pattern: `\b(xox[cd]-[A-Za-z0-9%+/=-]{30,})`, keywords: "xoxc- xoxd-", shape: shapeStart, word: true, entropy: 3},
	{kind: "telegram-bot-api-token", pattern: `/bot([0-9]{6,12}:[A-Za-z0-9_-]{34,36})`, keywords: "/bot", shape: shapeStart, entropy: 3},
	{kind: "discord-webhook", pattern: `(?i)discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/([a-z0-9_-]{40,})`, keywords: "discord.com discordapp.com", shape: shapeStart, entropy: 3},

	{kind: "url-password", pattern: "://[^\\s/:@\"'<>`]{0,100}:([^\\s/@\"'<>{}*`]{3,200})@[\\w\\[]", keywords: "://", shape: shapeStart, but: placeholder},
	{kind: "authorization", pattern: "(?i)authorization[\"']{0,4}[ \\t]{0,4}[:=,][ \\t]{0,4}[\"'`]{0,4}(?:(?:bearer|token|apikey|key|negotiate)[ \\t]+)?([\\w=~@.+/-]{8,})", keywords: "authorization", shape: shapeStart, entropy: 2.5, digit: true},
	{kind: "authorization", pattern: "(?i)authorization[\"']{0,4}[ \\t]{0,4}[:=,][ \\t]{0,4}[\"'`]{0,4}basic[ \\t]+([a-z0-9+/]{8,}={0,2})", keywords: "authorization", shape: shapeStart, entropy: 2.5},
	{kind: "bearer-token", pattern: `(?i)\bbearer[ \t]+([\w=~.+/-]{16,})`, keywords: "bearer␣", shape: shapeStart, word: true, entropy: 3, digit: true},
	{kind: "password", pattern: "(?i)(?:password|passwd|passphrase|pwd)[\\w-]{0,20}[\"']{0,2}[ \\t]{0,3}(?:=>|:=|=|:)[ \\t]{0,3}[\"'`]{0,2}([^\\s\"'`,;<>(){}\\[\\]$&|\\\\]{6,128})(?:[\\s\"'`,;&|<)}\\]\\\\]|$)",
		keywords: "password passwd passphrase pwd", shape: shapeStart, entropy: 2, digit: true, but: `^(?:[/~.]|[A-Za-z]:|https?:|\d+$|0x)|` + placeholder},
	{kind: "password", pattern: "(?i)--?pass(?:word|wd|phrase)?[ \\t]+[\"']?([^\\s\"'`$<>{}\\\\-][^\\s\"'`$<>{}\\\\]{5,128})", keywords: "-password␣ -passwd␣ -pass␣ -passphrase␣", shape: shapeStart, entropy: 2, digit: true, but: `^[/~.]|` + placeholder},
	{kind: "password", pattern: `(?i)machine\s+\S{1,100}\s+login\s+\S{1,100}\s+password\s+([^\s"'\\<>&\[\]]{4,100})`, keywords: "machine␣", shape: shapeStart, but: placeholder},
	{kind: "session-cookie", pattern: `(?i)cookie["']{0,2}[ \t]{0,3}[:=][ \t]{0,3}["']{0,2}[^\r\n"']{0,300}?\b[\w-]{0,30}(?:sess|sid|auth|token|jwt)[\w-]{0,20}=([a-z0-9%._+/-]{16,})`, keywords: "cookie", shape: shapeStart, entropy: 3, digit: true},

	// A key of which only one end is there: what is shown of a text may begin or end inside.
	{kind: "private-key", pattern: `(?i)-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----\s*(?:[\w-]+: [^\r\n"\\]*\s+)*[a-z0-9+/=\s\\]{40,}`, keywords: "-----begin", shape: shapeStart},
	{kind: "private-key", pattern: `(?i)[a-z0-9+/=\s]{40,}-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----`, keywords: "-----end", shape: shapeEnd, reach: 200},
	{kind: "private-key", pattern: `(?i)private-lines:[ \t]*\d+\s+([a-z0-9+/=\s]{40,})`, keywords: "private-lines:", shape: shapeStart},
}

// placeholder is what manuals write where a secret goes.
const placeholder = `(?i)^(?:your[\w-]*|my[_-]?\w*|pass(?:word|wd)?|pwd|secret|user(?:name)?|x+|\*+|\.+|change_?(?:it|me)|example|token|redacted|none|null|true|false|test|foo|bar|%\w+|\$.*)$`
