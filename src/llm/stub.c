#include "llm/dialect.h"
const struct dialect dialect_openai = {.name="openai",.path="/chat/completions",.default_base="https://api.openai.com/v1",.default_model="gpt-x",.key_variable="OPENAI_API_KEY",.base_variable="OPENAI_BASE_URL",.model_variable="OPENAI_MODEL"};
