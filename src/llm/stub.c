#include "llm/dialect.h"
const struct dialect dialect_anthropic = {.name="anthropic",.path="/v1/messages",.default_base="https://api.anthropic.com",.default_model="claude-x",.key_variable="ANTHROPIC_API_KEY",.base_variable="ANTHROPIC_BASE_URL",.model_variable="ANTHROPIC_MODEL"};
const struct dialect dialect_openai = {.name="openai",.path="/chat/completions",.default_base="https://api.openai.com/v1",.default_model="gpt-x",.key_variable="OPENAI_API_KEY",.base_variable="OPENAI_BASE_URL",.model_variable="OPENAI_MODEL"};
bool llm_request_check(const struct llm_request *r, struct err *e){(void)r;(void)e;return true;}
