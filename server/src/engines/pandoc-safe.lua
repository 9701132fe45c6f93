-- Makes a document safe to be written without Pandoc's own sandbox: pictures become part of it or vanish, nothing raw and
-- nothing that runs or loads is left. Runs after a reader in the sandbox; see pandoc.ts.

local base64_letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

local function base64(bytes)
  local parts = {}
  for at = 1, #bytes, 3 do
    local a, b, c = bytes:byte(at, at + 2)
    local word = a * 65536 + (b or 0) * 256 + (c or 0)
    local letters = {}
    for shift = 18, 0, -6 do
      local index = (word >> shift) & 63
      letters[#letters + 1] = base64_letters:sub(index + 1, index + 1)
    end
    if b == nil then letters[3] = '=' end
    if c == nil then letters[4] = '=' end
    parts[#parts + 1] = table.concat(letters)
  end
  return table.concat(parts)
end

-- Pictures that the file holds itself; what it only links to is shown by its description.
function Image(image)
  if image.src:match('^data:image/[%w.+-]+;base64,') then return image end
  local type, bytes = pandoc.mediabag.lookup(image.src)
  if type == nil or not type:match('^image/') then return image.caption end
  image.src = 'data:' .. type .. ';base64,' .. base64(bytes)
  return image
end

local harmless = { http = true, https = true, mailto = true, tel = true, ftp = true }

function Link(link)
  local address = link.target:gsub('%%20', ''):gsub('[%c%s]', '')
  local scheme = address:match('^(%a[%w+.-]*):')
  if scheme ~= nil and not harmless[scheme:lower()] then return link.content end
  return link
end

function RawBlock(block)
  if block.format:match('^html') then return pandoc.read(block.text, 'html').blocks end
  return {}
end

function RawInline(inline)
  if inline.format:match('^html') and inline.text:lower():match('^<br[%s/>]') then return pandoc.LineBreak() end
  return {}
end

local kept = { 'title', 'subtitle', 'author', 'date', 'lang', 'abstract', 'keywords', 'description', 'subject' }

-- A book must have a title, a page has one for its tab. Other fields name files (style sheets, covers, bibliographies) or carry raw text.
function Meta(meta)
  local safe = {}
  for _, name in ipairs(kept) do safe[name] = meta[name] end
  safe.title = safe.title or meta['fallback-title']
  if meta['fallback-page-title'] ~= nil then safe.pagetitle = safe.title or meta['fallback-page-title'] end
  return pandoc.Meta(safe)
end

-- Attributes that a browser would act on: handlers, styles and addresses.
local function plain(element)
  local attributes = {}
  for name, value in pairs(element.attributes) do
    local lower = name:lower()
    if lower == 'width' or lower == 'height' or lower == 'lang' or lower == 'dir' or lower == 'start' then
      attributes[name] = value
    end
  end
  element.attributes = attributes
  return element
end

local elements = { 'Div', 'Span', 'Code', 'CodeBlock', 'Header', 'Image', 'Link' }
local attributes = {}
for _, name in ipairs(elements) do attributes[name] = plain end

-- In this order: raw text is read first, so that what it turns into is looked at as well.
return {
  { RawBlock = RawBlock, RawInline = RawInline },
  { Image = Image, Link = Link, Meta = Meta },
  attributes,
}
